"""Every error that edhie raises on purpose, under one base class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any
from unicodedata import east_asian_width

LONGEST_TYPO = 60  # comparing a word of a million letters takes seconds


class EdhieError(Exception):
    """Base of all errors a caller may want to catch; its text says what, where and what to do."""


class SymbolError(EdhieError):
    """A symbol or a symbol library is not what it should be."""


class ExpressionError(EdhieError):
    """A token sequence or a forest does not form whole expressions."""


class ParseError(EdhieError):
    """A text cannot be read as an expression; carries the text and the position of the fault."""

    def __init__(self, what: str, text: str, position: int) -> None:
        self.what = what
        self.text = text
        self.position = position
        super().__init__(f"{what} at {position} in {shortened(text)!r}\n{caret_line(text, position)}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.text, self.position)


class GrammarError(EdhieError):
    """A grammar cannot be read, is inconsistent, or cannot do what was asked of it."""


class CorpusError(EdhieError):
    """A corpus folder or a file to import is missing, damaged or holds bad lines."""


class GeneratorError(EdhieError):
    """A model cannot be made, trained, saved or loaded as asked."""


class DataError(EdhieError):
    """Data cannot be used: they hold something that is not a finite number, or their parts do not fit together."""


class LossError(EdhieError):
    """A loss is unknown, or a user's loss returned something that is not a loss."""


class SearchError(EdhieError):
    """A search cannot be started, saved, resumed or read as asked."""


class KeepError(SearchError):
    """A folder cannot be written to, such as on a full disk."""


class InUseError(EdhieError):
    """Another process works in a folder."""


class UnavailableError(EdhieError):
    """A package that edhie does not depend on is needed, and is missing or cannot be used."""


class MissingExtraError(UnavailableError):
    """An optional dependency is needed for what was asked."""

    def __init__(self, feature: str, extra: str) -> None:
        self.feature = feature
        self.extra = extra
        super().__init__(f"{feature} needs an optional package; install it with: pip install 'edhie[{extra}]'")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.feature, self.extra)


class UnkeptWarning(UserWarning):
    """A warning: results are returned, but their folder could not be written."""


class NameWarning(UserWarning):
    """A column name has invisible or look-alike characters, or looks the same as another one."""


class GrammarWarning(UserWarning):
    """A grammar works, but not as its author probably expects."""


class UnexplainedWarning(UserWarning):
    """No column explains the target: the equation is a constant."""


def caret_line(text: str, position: int, width: int = 72) -> str:
    """Return the text and, below it, a caret under `position`; long texts are cut around it."""
    start = max(0, position - width // 2)
    shown = "".join(letter if letter.isprintable() else " " for letter in text[start : start + width])
    head = "..." if start else ""
    tail = "..." if start + width < len(text) else ""
    # an ideographic space is as wide as the letters that take two columns
    before = head + shown[: position - start]
    indent = "".join("\u3000" if east_asian_width(letter) in "WF" else " " for letter in before)
    return f"  {head}{shown}{tail}\n  {indent}^"


def shortened(text: str, width: int = 120) -> str:
    """Return the text, or its beginning and an ellipsis if it is too long for a message."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'sin'?` for a near miss, else an empty text."""
    if len(word) > LONGEST_TYPO:
        return ""
    close = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


FAULTS_OF_FILES = (OSError, UnicodeDecodeError)


@contextmanager
def raised_as(
    error: type[EdhieError], what: str, faults: tuple[type[Exception], ...] = FAULTS_OF_FILES
) -> Iterator[None]:
    """Raise faults in the block, such as a full disk, as an error whose message begins with `what`."""
    try:
        yield
    except faults as fault:
        raise error(f"{what}: {getattr(fault, 'strerror', None) or fault}") from fault


def is_interruption(error: BaseException | None) -> bool:
    """Return whether an error is Ctrl-C, which compiled code turns into a SystemError."""
    return isinstance(error, KeyboardInterrupt) or (
        error is not None and is_interruption(error.__cause__ or error.__context__)
    )
