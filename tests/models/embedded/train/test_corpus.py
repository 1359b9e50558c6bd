"""The corpus and its ledger: SRV-19, S1-13."""

import json
from collections import Counter, defaultdict
from hashlib import sha256
from typing import get_args

import pytest

from models.embedded.train import corpus as module
from models.embedded.train.corpus import Corpus, CorpusMismatch, Split, corpus
from models.embedded.train.duplicates import near_duplicates, shared_runs, texts_of
from models.embedded.train.examples import example_of, item_key
from models.questions.presets import PRESETS

LABELLED = sorted(PRESETS.keys() - {"selector"})
"""Every preset of S1-13 that has labels: the selector's options are nobody's but its asker's."""


@pytest.fixture(scope="module")
def texts() -> Corpus:
    """The corpus, whose files have the digests of the ledger."""
    return corpus()


@pytest.fixture(scope="module")
def words(texts):
    return texts_of((b.brief, item) for b in texts.briefs for item in texts.items[b.brief])


def labels(items) -> Counter[str]:
    """Preset -> different texts that have a label of it."""
    states = defaultdict(set)
    for item in items:
        for name in item.get("ask", {}):
            states[name].add(item_key(item))
    return Counter({name: len(keys) for name, keys in states.items()})


def everything(texts: Corpus):
    return [(brief.brief, item) for brief in texts.briefs for item in texts.items[brief.brief]]


def test_every_brief_is_whole_in_one_split(texts):
    """SRV-19: what is measured was written under briefs that nothing was trained on"""
    names = [brief.brief for brief in texts.briefs]
    assert len(names) == len(set(names)) >= 40
    splits = Counter(brief.split for brief in texts.briefs)
    assert set(splits) == set(get_args(Split))
    assert splits["heldout"] >= 8
    by_text = defaultdict(set)
    for brief in texts.briefs:
        for item in texts.items[brief.brief]:
            by_text[item_key(item)].add(brief.split)
    assert all(len(found) == 1 for found in by_text.values())


def test_every_brief_says_what_it_is_and_under_which_licence(texts):
    """SRV-19"""
    for brief in texts.briefs:
        assert all((brief.subject, brief.register, brief.languages, brief.written, brief.licence))


def test_every_brief_crosses_presets(texts):
    """SRV-19: that a text is of a brief tells no label"""
    crossed = {brief: len(labels(items)) for brief, items in texts.items.items()}
    assert {brief: count for brief, count in crossed.items() if count < 4} == {}


@pytest.mark.parametrize("preset", LABELLED)
def test_every_preset_is_measured_on_enough_texts(texts, preset):
    """SRV-19, S1-14: with labels that two readings agree about"""
    assert labels(item for _, item in texts.of("heldout"))[preset] >= 100


@pytest.mark.parametrize("preset", LABELLED)
def test_every_preset_has_many_different_texts(texts, preset):
    """SRV-19"""
    assert labels(item for _, item in everything(texts))[preset] >= 400


@pytest.mark.parametrize("preset", LABELLED)
def test_two_readers_agree_about_every_preset(texts, preset):
    """SRV-19"""
    assert texts.agreement.agreed[preset] >= 0.8 * texts.agreement.read[preset] > 0


def test_every_item_is_an_example_and_they_are_many(texts):
    """SRV-19: every label fits its question"""
    asked = [a.name for brief, item in everything(texts) for a in example_of(brief, item).asked]
    assert len(asked) >= 10_000
    assert sum(name.startswith("free.") for name in asked) >= 2_000


def test_no_two_texts_share_a_run_of_words(words):
    """SRV-19: texts are written, not filled in"""
    assert shared_runs(words) == []


def test_no_two_texts_say_the_same(words):
    """SRV-19"""
    assert near_duplicates(words) == []


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A corpus of one brief and three texts, one of which was read once."""
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    items = [{"state": f"text {i}", "ask": {"domain": "law", "jailbreak": False}} for i in range(3)]
    readings = [
        {"id": item_key(item), "ask": {"domain": ["law", "math"][i], "jailbreak": False}}
        for i, item in enumerate(items[:2])
    ]
    digests = []
    for folder, rows in (("texts", items), ("readings", readings)):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "07.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        digests.append(sha256(path.read_bytes()).hexdigest())
    brief = {"brief": "07", "subject": "law", "register": "plain", "languages": ["en"]}
    brief |= {"written": "2026-11-30", "licence": "Apache-2.0", "split": "train"}
    brief |= {"sha256": digests[0], "reading_sha256": digests[1]}
    (tmp_path / "briefs.yaml").write_text(json.dumps({"briefs": [brief]}), "utf-8")
    return tmp_path


def test_labels_that_both_readings_give_are_the_corpus(small):
    """SRV-19"""
    read = corpus()
    assert [item["ask"] for _, item in read.of("train")] == [
        {"domain": "law", "jailbreak": False},
        {"jailbreak": False},
    ]
    assert list(read.of("heldout")) == []
    assert (read.agreement.agreed["domain"], read.agreement.read["domain"]) == (1, 2)


@pytest.fixture
def asked(small):
    """The same with a question about two of its texts and one that it does not have."""
    keys = [item_key({"state": f"text {i}"}) for i in (0, 1)]
    question = {"type": "noul", "instructions": "Law?", "about": [*keys, "00000000"]}
    question |= {"answers": [True, False, True], "second": [True, True, True]}
    open_one = question | {"instructions": "Long?", "answers": [None, True, True]}
    (small / "questions").mkdir()
    path = small / "questions" / "07.jsonl"
    path.write_text("".join(json.dumps(q) + "\n" for q in (question, open_one)), "utf-8")
    ledger = json.loads((small / "briefs.yaml").read_text())
    ledger["briefs"][0]["questions_sha256"] = sha256(path.read_bytes()).hexdigest()
    (small / "briefs.yaml").write_text(json.dumps(ledger), "utf-8")
    return small


def test_a_question_about_many_texts_is_asked_of_those_whose_answer_two_readings_give(asked):
    """SRV-19"""
    read = corpus()
    (first, second) = (item for _, item in read.of("train"))
    assert first["questions"] == [{"type": "noul", "instructions": "Law?", "answer": True}]
    assert second["questions"] == [{"type": "noul", "instructions": "Long?", "answer": True}]
    assert (read.agreement.agreed["free.noul"], read.agreement.read["free.noul"]) == (2, 3)


@pytest.mark.parametrize("folder", ["texts", "readings"])
def test_a_file_that_differs_from_the_ledger_is_not_read(small, folder):
    """SRV-19"""
    path = small / folder / "07.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(CorpusMismatch, match=r"07\.jsonl"):
        corpus()


def test_questions_that_differ_from_the_ledger_are_not_read(asked):
    """SRV-19"""
    path = asked / "questions" / "07.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(CorpusMismatch, match=r"07\.jsonl"):
        corpus()
