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
from edhie.expr import Expr, Forest, parse

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

    position: int
    """Where the part begins, in prefix order."""
    piece: Expr


def other_profiles(expr: Expr, data: Data) -> list[Expr]:
    """Return an expression with other functions in place of its own, where these run alike on the rows."""
    found: list[Expr] = []
    if expr.library.constant is None or None in expr.constants:
        return found
    for place in places(expr):
        for piece in _with_square(place.piece):
            now, x = values(Forest.from_exprs([expr.subtree(place.position), piece]), data.columns)
            if not (np.isfinite(now).all() and np.isfinite(x).all() and np.ptp(x) > 0):
                continue
            for profile, constants in alike(np.asarray(x, np.float64), np.asarray(now, np.float64)):
                found += [expr.replace(place.position, other) for other in _written(profile, constants, piece)]
    return found


def places(expr: Expr) -> list[Place]:
    """Return the largest parts that are a function of one piece: functions, powers, sums and products with numbers."""
    found: list[Place] = []
    covered = 0
    for position, token in enumerate(expr.tokens):
        if position < covered or not _is_curved(expr, position):
            continue
        at = position
        while (inner := _only_operand(expr, at)) is not None:
            at = inner
        piece = expr.subtree(at)
        is_power = token.startswith("^") or token == "/"
        if piece.variables and not (is_power and piece.size == 1):  # powers of a variable are easily found
            found.append(Place(position, piece))
            covered = at
    return found


def _is_curved(expr: Expr, position: int) -> bool:
    """Whether a function or power of one operand begins here, not a mere sum or multiple."""
    token = expr.tokens[position]
    operand = _only_operand(expr, position)
    if operand is None or token in ("+", "-", "*", "neg"):
        return False
    return token != "/" or operand != position + 1


def _only_operand(expr: Expr, position: int) -> int | None:
    """Where the only operand begins that has variables; None where there is none, or more than one."""
    operands = [at for at in expr.child_positions(position) if expr.subtree(at).variables]
    return operands[0] if len(operands) == 1 else None


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


def _written(profile: Profile, constants: tuple[float, ...], piece: Expr) -> list[Expr]:
    """The function of the piece; an empty list where the library cannot write it."""
    library, stand_in = piece.library, piece.library.variables[0]
    try:
        form = parse(profile.template.format(c=library.constant, x=stand_in), library)
    except EdhieError:
        return []
    return [form.with_constants(constants).substitute({stand_in: piece})]
