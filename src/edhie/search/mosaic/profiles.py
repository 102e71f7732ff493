"""Other functions in place of one: where an expression is a function of a piece, functions that run alike are tried.

Under noise a search may come upon cos(v/c) where sqrt(1 - v^2/c^2) is right, since both run alike. Then the root is
written in place of the cosine, and fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.errors import EdhieError
from edhie.evaluate.data import Data
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest, SymbolLibrary, parse

Numbers = NDArray[np.float64]
SCALES = np.array([0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.97, 1.3, 2.0, 3.0, 5.0, 10.0])  # over the largest piece
PLAIN_SCALES = np.array([0.5, 1.0, 2.0])
POWERS = np.array([-3.0, -2.0, -1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0, 3.0])
ALIKE = 0.1  # of the variance: functions that differ by more are not tried
TRIED = 8  # functions in one place
LARGEST_VALUE = 1e100


@dataclass(frozen=True)
class Profile:
    """Functions a·g(k·x) of a piece x."""

    template: str
    """How it is written: `{c}` is a constant, `{x}` the piece."""
    values: Callable[[Numbers, Numbers], Numbers]
    """g by rows of k, of shape (scales, 1)."""
    constants: Callable[[float, float], tuple[float, ...]] = lambda a, k: (a, k)
    """The constants of the template by a and k."""


PROFILES = (
    Profile("sqrt({c} + {c}*{x})", lambda x, k: np.sqrt(1 + k * x), lambda a, k: (a * a, a * a * k)),
    Profile("{c}/sqrt({c} + {c}*{x})", lambda x, k: 1 / np.sqrt(1 + k * x), lambda a, k: (a, 1.0, k)),
    Profile("{c}/({c} + {x})", lambda x, k: 1 / (1 + k * x), lambda a, k: (a / k, 1 / k)),
    Profile("{c}/({c} + {x})^2", lambda x, k: 1 / (1 + k * x) ** 2, lambda a, k: (a / k**2, 1 / k)),
    Profile("{c}*({c} + {x})^2", lambda x, k: (1 + k * x) ** 2, lambda a, k: (a * k**2, 1 / k)),
    Profile("{c}*({c} + {x})", lambda x, k: 1 + k * x, lambda a, k: (a * k, 1 / k)),
    Profile("{c}*exp({c}*{x})", lambda x, k: np.exp(k * x)),
    Profile("{c}*{x}*exp({c}*{x})", lambda x, k: x * np.exp(k * x)),
    Profile("{c}*(exp({c}*{x}) - {c})", lambda x, k: np.exp(k * x) - 1, lambda a, k: (a, k, 1.0)),
    Profile("{c}/(exp({c}*{x}) - {c})", lambda x, k: 1 / (np.exp(k * x) - 1), lambda a, k: (a, k, 1.0)),
    Profile("{c}/(exp({c}*{x}) + {c})", lambda x, k: 1 / (np.exp(k * x) + 1), lambda a, k: (a, k, 1.0)),
    Profile("{c}*{x}/(exp({c}*{x}) - {c})", lambda x, k: x / (np.exp(k * x) - 1), lambda a, k: (a, k, 1.0)),
    Profile("{c}*log({c} + {c}*{x})", lambda x, k: np.log(1 + k * x), lambda a, k: (a, 1.0, k)),
    Profile("{c}*sin({c}*{x})", lambda x, k: np.sin(k * x)),
    Profile("{c}*cos({c}*{x})", lambda x, k: np.cos(k * x)),
    Profile("{c}*sin({c}*{x})^2", lambda x, k: np.sin(k * x) ** 2),
    Profile("{c}*tanh({c}*{x})", lambda x, k: np.tanh(k * x)),
    Profile("{c}*atan({c}*{x})", lambda x, k: np.arctan(k * x)),
    Profile("{c}*asin({c}*{x})", lambda x, k: np.arcsin(k * x)),
    Profile("{c}*acos({c}*{x})", lambda x, k: np.arccos(k * x)),
)
POWER = Profile("{c}*{x}^{c}", lambda x, k: np.where(x > 0, x, np.nan) ** k)


@dataclass(frozen=True)
class Place:
    """A part of an expression that is a function of a piece alone."""

    start: int
    end: int
    """Of the part, among the tokens."""
    piece: Expr

    def part(self, expr: Expr) -> Expr:
        """The part as an expression."""
        return _slice(expr, self.start, self.end)


def other_profiles(expr: Expr, data: Data) -> list[Expr]:
    """Return an expression with other functions in place of its own, where these run alike on the rows."""
    library = expr.library
    if library.constant is None or None in expr.constants:
        return []
    found: list[Expr] = []
    for place in places(expr):
        for piece in _with_square(place.piece):
            try:
                now, x = values(Forest.from_exprs([place.part(expr), piece]), data.columns)
            except EdhieError:
                continue
            if not (np.isfinite(now).all() and np.isfinite(x).all() and np.ptp(x) > 0):
                continue
            for profile, constants in alike(np.asarray(x, np.float64), np.asarray(now, np.float64)):
                found += _written(expr, place, piece, profile, constants, library)
    return found


def places(expr: Expr) -> list[Place]:
    """Return the largest parts that are a function of one piece: functions, powers, sums and products with numbers."""
    ends = _ends(expr)
    found: list[Place] = []
    covered = 0
    for start, token in enumerate(expr.tokens):
        if start < covered or not _is_curved(expr, start, ends):
            continue
        at = start
        while (inner := _only_operand(expr, at, ends)) is not None:
            at = inner
        piece = _slice(expr, at, ends[at])
        is_power = token.startswith("^") or token == "/"
        if piece.variables and not (is_power and piece.size == 1):  # powers of a variable are easily found
            found.append(Place(start, ends[start], piece))
            covered = at
    return found


def _is_curved(expr: Expr, at: int, ends: list[int]) -> bool:
    """Whether a function or power of one operand begins here, not a mere sum or multiple."""
    token = expr.tokens[at]
    if _only_operand(expr, at, ends) is None or token in ("+", "-", "*", "neg"):
        return False
    return token != "/" or _is_number(expr, at + 1, ends[at + 1])


def _only_operand(expr: Expr, at: int, ends: list[int]) -> int | None:
    """Where the only operand begins that has variables; None where there is none, or more than one."""
    first, operands = at + 1, []
    for _ in range(expr.library[expr.tokens[at]].arity):
        if not _is_number(expr, first, ends[first]):
            operands.append(first)
        first = ends[first]
    return operands[0] if len(operands) == 1 else None


def _is_number(expr: Expr, start: int, end: int) -> bool:
    return not any(expr.library[token].kind == "variable" for token in expr.tokens[start:end])


def _ends(expr: Expr) -> list[int]:
    """By token in prefix order: where its subtree ends."""
    ends = [0] * len(expr.tokens)
    for at in range(len(expr.tokens) - 1, -1, -1):
        end = at + 1
        for _ in range(expr.library[expr.tokens[at]].arity):
            end = ends[end]
        ends[at] = end
    return ends


def _slice(expr: Expr, start: int, end: int) -> Expr:
    tokens, constant = expr.tokens, expr.library.constant
    first = tokens[:start].count(constant)
    return Expr.trusted(
        expr.library, tokens[start:end], expr.constants[first : first + tokens[start:end].count(constant)]
    )


def _with_square(piece: Expr) -> Iterator[Expr]:
    yield piece
    if "^2" in piece.library:
        yield Expr.trusted(piece.library, ("^2", *piece.tokens), piece.constants)


def alike(x: Numbers, now: Numbers) -> list[tuple[Profile, tuple[float, ...]]]:
    """Return the functions of x that are most like these values, with their constants."""
    spread = float(np.square(now - now.mean()).sum())
    scales = np.concatenate([SCALES / np.abs(x).max(), PLAIN_SCALES])
    scales = np.concatenate([scales, -scales])[:, np.newaxis]
    tried = []
    for profile in (*PROFILES, POWER):
        k = POWERS[:, np.newaxis] if profile is POWER else scales
        with np.errstate(all="ignore"):
            rows = profile.values(x, k)
            sizes = np.square(rows).sum(axis=1)
            factors = rows @ now / sizes
            left = np.square(now - factors[:, np.newaxis] * rows).sum(axis=1)
            left = np.where((sizes > 0) & (sizes < LARGEST_VALUE), left, np.inf)
            best = int(np.argmin(np.where(np.isfinite(left), left, np.inf)))
            if left[best] < ALIKE * spread:
                constants = profile.constants(float(factors[best]), float(k[best, 0]))
                tried.append((float(left[best]), profile, constants))
    tried.sort(key=lambda each: each[0])
    return [(profile, constants) for _, profile, constants in tried[:TRIED] if np.isfinite(constants).all()]


def _written(
    expr: Expr, place: Place, piece: Expr, profile: Profile, constants: tuple[float, ...], library: SymbolLibrary
) -> list[Expr]:
    """The expression with a function of the piece in this place; an empty list where the library cannot write it."""
    stand_in, constant = library.variables[0], library.constant
    try:
        words = parse(profile.template.format(c=constant, x=stand_in), library).tokens
    except EdhieError:
        return []
    before = expr.tokens[: place.start].count(constant)
    after = before + expr.tokens[place.start : place.end].count(constant)
    tokens, own = list(expr.tokens[: place.start]), list(expr.constants[:before])
    left = list(constants)
    for word in words:
        tokens += piece.tokens if word == stand_in else (word,)
        own += piece.constants if word == stand_in else [left.pop(0)] if word == constant else []
    tokens += expr.tokens[place.end :]
    return [Expr.trusted(library, tuple(tokens), (*own, *expr.constants[after:]))]
