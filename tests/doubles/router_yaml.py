"""A configuration that uses every section, and what loading a changed copy of it finds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from models.cards.schema import Card
from serve_app.config.loading import Loaded, load_text
from serve_app.config.problem import ConfigErrors, Problem
from tests.doubles.cards import ABLE

ROUTER: Final = """\
version: v1
providers:
  defaults: {default_model: general}
  models:
    - name: general
      provider_model_id: qwen3-8b
      api_format: openai
      description: Fast general model
      context_window: 32768
      output: [text]
      pricing: {prompt_per_1m: 0.10, completion_per_1m: 0.40}
      backends:
        - {base_url: "http://127.0.0.1:9000/v1", api_key_env: GENERAL_KEY, weight: 1}
        - {base_url: "${OTHER:-http://127.0.0.1:9001}/v1", timeout_ms: 60000}
    - {name: reasoner, backends: [{base_url: "http://127.0.0.1:9002/v1"}]}
entrypoints:
  - {model_names: [auto, best], recipe: default}
  - {model_names: [cheap], recipe: frugal}
recipes:
  - name: default
    signals:
      domains: [{name: subject, labels: [math, physics], predicate: {gt: 0.4}}]
      jailbreak: [{name: attack, on_unknown: no_match, timeout_ms: 500}]
      safety: [{name: harm}, {name: harms, labels: [weapons, hate]}]
      pii: [{name: personal, labels: [EMAIL_ADDRESS, PERSON], input: {history: true}}]
      complexity: [{name: difficulty, deployment: second}]
      modality: [{name: wanted, input: {images: true}}]
      fact_check: [{name: facts, predicate: {gte: 0.6, lt: 0.9}, deployment: far}]
      user_feedbacks: [{name: mood, labels: [wrong_answer]}]
      turn_relation: [{name: relation, input: {previous_turns: 2}}]
      systemone:
        - name: tools
          question: {type: noul, instructions: Does this need a tool?}
          predicate: {gte: 0.7}
        - name: length
          question: {type: score, instructions: How long?, levels: [short, middling, long]}
          predicate: {gte: 1.5}
        - name: language
          question:
            type: choice
            instructions: Which language?
            criteria:
              french: It is French
              other: It is not
        - name: topics
          question: {type: set, instructions: Which topics?, labels: [sports, news]}
          coverage: full
        - name: places
          question: {type: span, instructions: Find places., labels: [city, river]}
      keywords: [{name: shout, operator: OR, keywords: [urgent], patterns: ["[A-Z]{9,}"]}]
      context: [{name: long, min_tokens: 1000, max_tokens: 90000}]
      conversation: [{name: many, count: user, predicate: {gte: 3}}]
      input_modality: [{name: picture, modality: image}]
      metadata: [{name: team, key: team, equals: blue}, {name: gold, header: x-tier}]
    projections:
      scores:
        - name: effort
          inputs:
            - {type: complexity, name: difficulty, label: hard, weight: 2}
            - {type: systemone, name: tools, weight: 0.5}
      mappings:
        - name: size
          source: effort
          outputs: [{name: small, lt: 1}, {name: big, gte: 1}]
    decisions:
      - name: blocked
        priority: 1000
        rules:
          operator: OR
          conditions:
            - {type: jailbreak, name: attack}
            - {type: safety, name: harm, predicate: {gte: 0.9}}
            - {type: safety, name: harms, label: hate}
            - {type: pii, name: personal, label: PERSON, on_error: match}
        plugins: [{type: fast_response, message: I cannot help with that., status: 403}]
      - name: chosen
        description: The model is asked
        priority: 500
        rules:
          on_unknown: fail_request
          conditions:
            - {type: domain, name: subject, label: math}
            - operator: OR
              conditions:
                - {type: modality, name: wanted, label: text}
                - {type: projection, name: big}
                - operator: NOT
                  conditions: [{type: keywords, name: shout}]
        modelRefs:
          - {model: general, description: Quick}
          - {model: reasoner}
        algorithm: {type: systemone, deployment: second, timeout_ms: 300}
        fallback: true
        output: [text]
      - name: mixed
        rules:
          operator: OR
          conditions:
            - {type: fact_check, name: facts}
            - {type: user_feedback, name: mood}
            - {type: turn_relation, name: relation, label: correction}
            - {type: systemone, name: length, predicate: {gt: 1}}
            - {type: systemone, name: language, label: french}
            - {type: systemone, name: topics, label: news}
            - {type: systemone, name: places}
            - {type: context, name: long}
            - {type: conversation, name: many}
            - {type: input_modality, name: picture}
            - {type: metadata, name: team}
            - {type: metadata, name: gold}
        modelRefs: [{model: general, weight: 3}, {model: reasoner, weight: 1}]
        algorithm: {type: random}
      - name: rest
        modelRefs: [{model: general}]
  - name: frugal
    decisions:
      - {name: only, modelRefs: [{model: general}]}
global:
  router:
    headers: {debug: {callers: [ops]}}
    callers: [{name: ops, api_key_env: OPS_KEY}, {name: app, api_key_env: APP_KEY}]
    max_body_bytes: 65536
  model_catalog:
    system: {decision_model: {deployment: first}}
    signal_timeout_ms: 0
    on_signal_overload: {action: refuse}
    deployments:
      first:
        provider: model_runtime
        artifact: embedded
        aliases: [jev-latest]
        placement: {device: cpu, num_cpus: 0.5, threads: 1, dtype: auto}
        autoscaling: {min_replicas: 2}
        timeout_ms: 800
        max_queue_s: 5
      second: {provider: model_runtime, artifact: embedded}
      far:
        provider: systemone
        endpoint: http://127.0.0.1:9004/v1/systemone
        model: jev-1.0
        api_key_env: FAR_KEY
        aliases: [distant]
        timeout_ms: 400
"""

ENVIRON: Final = {"GENERAL_KEY": "g", "OPS_KEY": "o", "APP_KEY": "a", "FAR_KEY": "f"}
NAME: Final = "router.yaml"


def loaded(
    text: str = ROUTER, *, card: Card = ABLE, environ: Mapping[str, str] = ENVIRON
) -> Loaded:
    return load_text(text, NAME, cards={"embedded": card}, environ=environ)


def errors(
    text: str, *, card: Card = ABLE, environ: Mapping[str, str] = ENVIRON
) -> tuple[Problem, ...]:
    """The errors of ``text``, none if it loads."""
    try:
        loaded(text, card=card, environ=environ)
    except ConfigErrors as found:
        return found.problems
    return ()


def changed(old: str, new: str) -> tuple[str, int]:
    """``ROUTER`` with the one place of ``old`` replaced, and the line where ``new`` begins."""
    assert ROUTER.count(old) == 1, f"{old!r} stands {ROUTER.count(old)} times"
    return ROUTER.replace(old, new), ROUTER.count("\n", 0, ROUTER.index(old)) + 1


Mistake = tuple[str, str, str, str, str | None]
"""What stands in ``ROUTER``, what it becomes, the error's path, a part of its message, its
nearest known name."""


def mistake(case: Mistake) -> None:
    """Asserts that the change is one error, on the line where it begins."""
    old, new, path, message, nearest = case
    text, line = changed(old, new)
    (problem,) = errors(text)
    assert (problem.file, problem.path, problem.nearest) == (NAME, path, nearest)
    assert problem.line == line
    assert message in problem.message
