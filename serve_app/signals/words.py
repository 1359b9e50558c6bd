"""Whole words and regular expressions in a text, in linear time (CFG-4, ``keywords``)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import re2

from serve_app.config.schema.signals import KeywordRule

_UNSPACED: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""Scripts whose words are not set apart by blanks: any of their letters may end a word."""

_BREAK: Final = rf"[^\pL\pN\pM_]|[{_UNSPACED}]"
_JOINS: Final = re2.compile(r"[\pL\pN\pM_]")
_STANDS_ALONE: Final = re2.compile(rf"[{_UNSPACED}]")
_TERMS_A_PROGRAM: Final = 100
"""RE2 leaves its fast automaton when a program outgrows its memory; lists are cut at this."""


def _options(*, case_sensitive: bool) -> Any:
    options = re2.Options()
    options.case_sensitive = case_sensitive
    options.log_errors = False
    options.never_capture = True
    return options


@dataclass(frozen=True, slots=True)
class Words:
    """A ``keyword`` rule ready to read texts.

    Keywords match as whole words, by full case folding unless the rule is case sensitive;
    patterns search the text as it is.
    """

    operator: str
    keywords: tuple[Any, ...]
    patterns: tuple[Any, ...]
    fold: bool

    @classmethod
    def of(cls, rule: KeywordRule) -> Words:
        fold = not rule.case_sensitive
        exact = _options(case_sensitive=True)
        words = [_whole_word(_normal(word, fold)) for word in rule.keywords]
        if rule.operator != "AND":
            words = _joined(words)
        return cls(
            rule.operator,
            tuple(re2.compile(word, exact) for word in words),
            tuple(re2.compile(p, _options(case_sensitive=not fold)) for p in rule.patterns),
            fold,
        )

    def match(self, text: str) -> bool:
        found = self._found(_encodable(text))
        if self.operator == "AND":
            return all(found)
        return any(found) == (self.operator == "OR")

    def _found(self, text: str) -> Any:
        if self.keywords:
            normal = _normal(text, self.fold)
            yield from (word.search(normal) is not None for word in self.keywords)
        yield from (pattern.search(text) is not None for pattern in self.patterns)


def _whole_word(word: str) -> str:
    """``word`` where no letter, digit or mark runs on from its ends."""
    before = rf"(?:^|{_BREAK})" if _runs_on(word[0]) else ""
    after = rf"(?:$|{_BREAK})" if _runs_on(word[-1]) else ""
    return f"{before}{re2.escape(word)}{after}"


def _runs_on(edge: str) -> bool:
    return _JOINS.search(edge) is not None and _STANDS_ALONE.search(edge) is None


def _joined(words: Sequence[str]) -> list[str]:
    size = _TERMS_A_PROGRAM
    return ["|".join(words[i : i + size]) for i in range(0, len(words), size)]


def _normal(text: str, fold: bool) -> str:
    folded = text.casefold() if fold else text
    return folded if folded.isascii() else unicodedata.normalize("NFC", folded)


def _encodable(text: str) -> str:
    """``text`` with lone surrogates, which UTF-8 cannot carry, replaced."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
