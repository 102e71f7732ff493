"""The resolution of numbers: the step or the number of digits to which they were rounded, inferred from them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from edhie.arrays import Indices, Numbers

MOST_DIGITS = 11  # numbers that need more, relative to the largest, count as not rounded
FEWEST_DIGITS = 3  # fewer say little: 100, 200 and 3000 may well be exact
SAMPLE = 2000  # values that are tested first
MANY = 20  # distinct values, all multiples of 0.5 or of 100: hardly by chance
EVIDENCE = 3.0  # decimal digits that are zero in all values together: once in a thousand by chance
DOUBLE, SINGLE = 2.0**-53, 2.0**-24  # relative rounding of floats of 64 and 32 bits
SINGLE_DIGITS = 8  # as many decimal digits as 32 bits hold, about
UNLIKELY = 0.05  # measured values that look set so often are taken for set ones; this harms little
UNITS = (25, 5, 2)  # of a decimal place: 0.25, 0.5 and 0.2

Parts = tuple[Numbers, ...]
"""A sample of the values, and all of them: what fails on the sample is not tested on all."""


class Resolution(NamedTuple):
    """The precision to which values were rounded."""

    step: float = 0.0
    """Common divisor of all values; 0 if they were not rounded to a common step."""
    digits: int = 0
    """Significant digits to which all values were rounded; 0 if they were not."""


FULL_PRECISION = Resolution()


def resolution_of(values: Numbers) -> Resolution:
    """Return the resolution with which finite values were written.

    The step is a power of ten, or 0.5, 0.25 or 0.2 times one if there are many values. For whole numbers it is 1, or
    10, 100, … if there are many. Digits are given if larger values have fewer decimals than the step allows. Numbers
    that need more than 11 digits were not rounded. Floats of 32 bits are recognised.

    >>> resolution_of(np.array([0.24, 87.97, 365.26])), resolution_of(np.array([1 / 3, 2 / 3]))
    (Resolution(step=0.01, digits=0), Resolution(step=0.0, digits=0))
    """
    magnitudes = np.abs(values)
    largest = float(magnitudes.max(initial=0.0))
    if largest == 0:
        return FULL_PRECISION
    parts = magnitudes[:: max(1, len(magnitudes) // SAMPLE)], magnitudes
    found = _resolution(parts, largest, DOUBLE, MOST_DIGITS)
    if found != FULL_PRECISION or not all(map(_are_single, parts)):
        return found
    found = _resolution(parts, largest, SINGLE, MOST_DIGITS // 2)
    return found if found != FULL_PRECISION else Resolution(digits=SINGLE_DIGITS)


def rounding_of(values: Numbers, resolution: Resolution) -> Numbers:
    """Return the standard deviation of the rounding of each value: its step divided by √12."""
    return _quanta(values, resolution) / math.sqrt(12)


def were_set(values: Numbers, resolution: Resolution) -> bool:
    """Return True if values were set, not measured: the times 0, 0.05, 0.1, … or the doses 0.1, 0.2, 0.5, 1, 2, 5.

    Values that were measured seldom end in zeros, and are seldom spread evenly. Both are tested.

    >>> values = np.array([0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0])
    >>> were_set(values, resolution_of(values))
    True
    """
    values, counts = np.unique(values, return_counts=True)
    quanta = _quanta(values, resolution)
    if not quanta.all() or len(values) < 3:
        return False
    from scipy.special import bdtrc  # slow to import

    steps = np.rint(values / quanta)
    zeros = int((np.fmod(steps[values != 0], 10) == 0).sum())
    by_zeros = bdtrc(zeros - 1, int(np.count_nonzero(values)), 0.1) if zeros else 1.0
    by_spread = 1.0 if resolution.digits else _chance_of_spread(steps, counts)
    return bool(min(by_zeros, by_spread) < UNLIKELY)


def _chance_of_spread(steps: Numbers, counts: Indices) -> float:
    """Return the probability that values of a uniform distribution are spread as evenly, in whole steps."""
    gaps = np.diff(steps)
    if gaps.max() > 2**53:
        return 1.0
    gap = int(np.gcd.reduce(gaps.astype(np.int64)))
    places = int(gaps.sum()) // gap + 1
    if (counts == counts[0]).all():  # one of each, or repeated as a whole: no two at one place
        chance = float(np.exp(np.log1p(-np.arange(len(steps)) / places).sum()))
    else:  # numbers at each place that differ less than by chance: the lower tail of chi-squared
        from scipy.special import gammainc

        mean = float(counts.sum()) / places
        squares = float(np.square(counts - mean).sum()) + (places - len(counts)) * mean**2
        chance = float(gammainc((places - 1) / 2, squares / mean / 2))
    return chance * float(gap) ** (2 - len(steps))  # and that all are multiples of the gap


def _quanta(values: Numbers, resolution: Resolution) -> Numbers:
    """Return the step of each value."""
    quantum = np.full(len(values), resolution.step)
    if resolution.digits:
        magnitudes = np.abs(values)
        known = magnitudes > 0
        places = _leading_places(magnitudes[known]) + 1 - resolution.digits
        quantum[known] = np.maximum(quantum[known], np.power(10.0, places))
    return quantum


def _resolution(parts: Parts, largest: float, precision: float, most_digits: int) -> Resolution:
    """Return the resolution of magnitudes that are right to a relative precision."""
    distinct = np.unique(parts[0])
    top = math.floor(math.log10(largest))
    first = top if len(distinct) >= MANY else min(top, 0)
    place = _first_for_all(parts, _down(first, top - most_digits + 1), precision)
    last = _first_for_all(map(_shifted, parts), _down(0, 1 - most_digits), precision)
    digits = 0 if last is None else 1 - last
    if not _is_known(digits, distinct, place):
        digits = 0
    if place is None:
        return Resolution(0.0, digits)
    unit = 1
    if place < 0 and not digits and len(distinct) >= MANY:
        in_units = [np.rint(_scaled(part, place)) for part in parts]
        unit = next((n for n in UNITS if all((np.fmod(each, n) == 0).all() for each in in_units)), 1)
    return Resolution(float(f"{unit}e{place}"), digits)


def _first_for_all(parts: Iterable[Numbers], places: range, precision: float) -> int | None:
    """Return the first place of which the values are multiples; by a sample, then by all."""
    found = None
    for part in parts:
        found = next((place for place in places if _are_multiples(part, place, precision)), None)
        if found is None:
            return None
        places = _down(found, places[-1])
    return found


def _is_known(digits: int, distinct: Numbers, place: int | None) -> bool:
    """Return True if enough values end before the last place to show rounding to significant digits."""
    if digits < FEWEST_DIGITS:
        return False
    leading = _leading_places(distinct[distinct > 0])
    zeros = leading + 1 - digits - (leading[0] - MOST_DIGITS if place is None else place)
    return float(np.maximum(zeros, 0.0).sum()) >= EVIDENCE


def _are_single(values: Numbers) -> bool:
    with np.errstate(over="ignore"):
        return bool((values == values.astype(np.float32)).all())


def _down(first: int, last: int) -> range:
    return range(first, last - 1, -1)


def _are_multiples(values: Numbers, place: int, precision: float) -> bool:
    """Return True if all are multiples of 10^place, up to the rounding of floats."""
    with np.errstate(all="ignore"):
        scaled = _scaled(values, place)
        return bool((np.abs(scaled - np.rint(scaled)) <= 8 * precision * scaled).all())


def _scaled(values: Numbers, place: int) -> Numbers:
    """Return the values in units of 10^place; whole powers of ten are exact, their inverses are not."""
    power = float(f"1e{abs(place)}")
    return values * power if place < 0 else values / power


def _leading_places(magnitudes: Numbers) -> Numbers:
    """Return the place of the first digit of each: 2 for 365.26, -1 for 0.24."""
    places: Numbers = np.floor(np.log10(magnitudes))
    with np.errstate(over="ignore"):
        places += magnitudes >= np.power(10.0, places + 1)
        places -= magnitudes < np.power(10.0, places)
    return places


def _shifted(magnitudes: Numbers) -> Numbers:
    """Return the values scaled to between 1 and 10, without zeros."""
    magnitudes = magnitudes[magnitudes > 0]
    places = _leading_places(magnitudes)
    with np.errstate(all="ignore"):
        return np.where(places < 0, magnitudes * np.power(10.0, -places), magnitudes / np.power(10.0, places))
