"""Malformed inputs: valid seeds, changed at random by pieces of their language and by what breaks readers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

MAX_LENGTH = 120_000  # characters of an input
HUGE = 0.01  # share of the changes that make an input large
NUMBERS = (
    "0", "-0", "1e308", "1e309", "-1e999", "1e-999", "9" * 400, "0." + "0" * 400 + "1", "1" * 5000, "1e" + "9" * 300,
    "9**9**9**9", "9^9^9^9", "1_000", "0x1f", "1.2.3", "1e", "nan", "inf", "-Infinity", "1,5", "1.234.567,8", "1'000",
    "\u0663\u0664", "१२", "\U0001d7d7", "½", "²", "\u0661\u066b\u0665",
)  # fmt: skip
MARKS = (
    "\0", "\ufeff", "\u202e", "\u200b", "\u2028", "\x0b", "\x1c", "\x85", "\r", "\r\n", "\n", "\t", " ", "\u3000",
    "\ud800", "é", "e\u0301", "ß", "İ", "ﬁ", "😀", "速度", "θ", "−", "·", "“", "'", '"', "\\", "#", "%", "$", "&", ";",
    ":", "|", "=",
)  # fmt: skip
CODE = (
    "__import__('os').system('true')", "().__class__.__mro__[1].__subclasses__()", "lambda: exit()", "exec('1/0')",
    "open('/etc/passwd').read()", "=cmd|' /C calc'!A0", "\\input{/etc/passwd}", "\\write18{true}", "../../etc/passwd",
    "{{7*7}}", "${7*7}", "%s%n", "<script>", "!!python/object", "eval(x)", "os.system(1)", "__class__", "print(1)",
)  # fmt: skip
BRACKETS = ("()", "[]", "{}", '""', "''", "||")

Change = Callable[[random.Random, str, Sequence[str], Sequence[str]], str]


def span(rng: random.Random, text: str) -> tuple[int, int]:
    """Return the ends of a short piece of a text."""
    start = rng.randrange(len(text) + 1)
    return start, min(len(text), start + 1 + int(rng.expovariate(0.3)))


def insert(rng: random.Random, text: str, seeds: Sequence[str], pieces: Sequence[str]) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(rng.choice((pieces, pieces, pieces, NUMBERS, MARKS, CODE))) + text[at:]


def replace(rng: random.Random, text: str, seeds: Sequence[str], pieces: Sequence[str]) -> str:
    start, end = span(rng, text)
    return text[:start] + rng.choice(rng.choice((pieces, pieces, pieces, NUMBERS, MARKS, CODE))) + text[end:]


def delete(rng: random.Random, text: str, seeds: Sequence[str], pieces: Sequence[str]) -> str:
    start, end = span(rng, text)
    return text[:start] + text[end:]


def repeat(rng: random.Random, text: str, seeds: Sequence[str], pieces: Sequence[str]) -> str:
    """Write a piece several times, seldom a hundred thousand times."""
    start, end = span(rng, text)
    times = rng.choice((100, 1000, 10_000, 100_000)) if rng.random() < HUGE else rng.randrange(2, 9)
    return text[:start] + text[start:end] * times + text[end:]


def nest(rng: random.Random, text: str, seeds: Sequence[str], pieces: Sequence[str]) -> str:
    """Enclose a piece in brackets, seldom in a hundred thousand."""
    start, end = span(rng, text)
    opening, closing = rng.choice(BRACKETS)
    depth = rng.choice((60, 1000, 100_000)) if rng.random() < HUGE else rng.randrange(1, 12)
    before = opening if rng.random() < 0.8 else rng.choice(pieces) + opening
    after = depth if rng.random() < 0.8 else rng.randrange(depth + 1)
    return text[:start] + before * depth + text[start:end] + closing * after + text[end:]


def splice(rng: random.Random, text: str, seeds: Sequence[str], pieces: Sequence[str]) -> str:
    other = rng.choice(seeds)
    return text[: rng.randrange(len(text) + 1)] + other[rng.randrange(len(other) + 1) :]


def truncate(rng: random.Random, text: str, seeds: Sequence[str], pieces: Sequence[str]) -> str:
    return text[: rng.randrange(len(text) + 1)]


def flip(rng: random.Random, text: str, seeds: Sequence[str], pieces: Sequence[str]) -> str:
    """Change one bit of a character."""
    if not text:
        return text
    at = rng.randrange(len(text))
    return text[:at] + chr(ord(text[at]) ^ 1 << rng.randrange(7)) + text[at + 1 :]


def swap(rng: random.Random, text: str, seeds: Sequence[str], pieces: Sequence[str]) -> str:
    a, b, c = sorted(rng.randrange(len(text) + 1) for _ in range(3))
    return text[:a] + text[b:c] + text[a:b] + text[c:]


CHANGES: tuple[Change, ...] = (
    insert, insert, insert, replace, replace, delete, repeat, nest, splice, truncate, flip, swap,
)  # fmt: skip


def mutated(rng: random.Random, seeds: Sequence[str], pieces: Sequence[str]) -> str:
    """Return a seed after one or a few changes."""
    text = rng.choice(seeds)
    for _ in range(1 + min(int(rng.expovariate(1.0)), 5)):
        text = rng.choice(CHANGES)(rng, text, seeds, pieces)
        if len(text) > MAX_LENGTH:
            return text[:MAX_LENGTH]
    return text


def encoded(rng: random.Random, text: str) -> bytes:
    """Return the text as the content of a file: mostly UTF-8, at times damaged."""
    coding = rng.choices(
        ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252", "utf-7"), (90, 3, 2, 1, 1, 1, 1, 1)
    )[0]
    content = text.encode(coding, errors="surrogatepass" if coding.startswith("utf") else "replace")
    return damaged(rng, content) if rng.random() < 0.1 else content


def damaged(rng: random.Random, content: bytes) -> bytes:
    """Return the bytes cut short, with other bits, or with bytes put in or left out."""
    changed = bytearray(content)
    for _ in range(1 + int(rng.expovariate(0.7))):
        at = rng.randrange(len(changed) + 1)
        match rng.randrange(5):
            case 0:
                del changed[at:]
            case 1 if at < len(changed):
                changed[at] ^= 1 << rng.randrange(8)
            case 2:
                changed[at:at] = rng.choice(
                    (b"\0", b"\xff", b"\xff\xff\xff\x7f", b"\xef\xbb\xbf", b"\xff\xfe", b"\x80")
                )
            case 3:
                del changed[at : at + rng.randrange(1, 9)]
            case _:
                changed[at : at + 8] = rng.choice((b"\xff" * 8, b"\0" * 8, b"\x7f" + b"\xff" * 7, rng.randbytes(8)))
    return bytes(changed)


VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 3, 7, 10**6, 2**31, 2**63, 10**9, 10**18, 10**400, -(10**400), 0.5, -0.0, 1e-300,
    1e300, float("nan"), float("inf"), float("-inf"), "", "x", "c", "0", "1e999", "\0", "\ud800", "../../etc/passwd",
    "x" * 3000, "9^9^9^9", "(" * 3000, *CODE, [], {}, [[]], [None], [1, 2], {"x": 1}, [0] * 3000, ["x"] * 300,
)  # fmt: skip


def changed_value(rng: random.Random, value: Any) -> Any:
    """Return a JSON value with one part of it changed, left out, written twice or put elsewhere."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        name, other = rng.choice(list(value)), rng.choice(list(value))
        match rng.randrange(8):
            case 0:
                return {key: each for key, each in value.items() if key != name}
            case 1:
                return {**value, rng.choice(("", "format", "x", "\0", name + "_", "__class__")): value[other]}
            case 2:
                return {**value, name: value[other]}
            case _:
                return {**value, name: changed_value(rng, value[name])}
    if isinstance(value, list) and value and rng.random() < 0.85:
        at = rng.randrange(len(value))
        match rng.randrange(6):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return value[:at] + [value[at]] * rng.choice((2, 2, 2, 1000)) + value[at + 1 :]
            case _:
                return [*value[:at], changed_value(rng, value[at]), *value[at + 1 :]]
    if isinstance(value, str) and rng.random() < 0.5:
        return mutated(rng, (value,), ("x", "c", "0", "1", ".", "-", "+", "(", ")", "^", "e", " "))[:10_000]
    if isinstance(value, int | float) and rng.random() < 0.4:
        return rng.choice((value + 1, value - 1, -value, value * 1000, value // 3, str(value), [value]))
    return rng.choice(VALUES)


def changed_json(rng: random.Random, value: Any) -> str:
    """Return a JSON text with changed parts, at times one that no writer writes."""
    for _ in range(1 + min(int(rng.expovariate(1.0)), 4)):
        value = changed_value(rng, value)
    text = json.dumps(value)
    if rng.random() < 0.02:
        depth = rng.choice((100, 1000, 100_000))
        name = rng.choice(("x", "format", "settings", "library", "symbols"))
        return text[:-1] + f', "{name}": ' + "[" * depth + "]" * depth + "}"
    if rng.random() < 0.05:
        return text[:-1] + ", " + text[1:]  # every key is there twice
    return mutated(rng, (text,), ("{", "}", "[", "]", ",", ":", '"', "null", "1")) if rng.random() < 0.1 else text
