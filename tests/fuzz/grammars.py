"""Texts of probabilistic grammars."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from edhie.grammar import PCFG, load, names
from fuzz.kind import Kind
from fuzz.mutation import encoded, mutated

SEEDS = (
    *(str(load(name)) for name in names()), "E -> E '+' F [0.2] | F [0.8]\nF -> 'x0' [1.0]\n",
    "# remarks\n%start S\nS -> 'sin' '(' S ')' [0.3] | A [0.7] # more\nA -> 'x' [0.5] \\\n | 'c' [0.5]\n",
    "S -> S P [0.3] | V O V [0.2] | V [0.5]\nP -> '^2' [0.5] | '^3' [0.5]\nO -> '+' [0.5] | '*' [0.5]\nV -> 'x0' [1]\n",
    "S -> S [0.5] | 'x' [0.5]\n", "S -> S '+' S [0.9] | 'x' [0.1]\n",
    'E -> "max" "(" E "," E ")" [1e-3] | "2" [0.999]\n',
)  # fmt: skip
PIECES = (
    "->", "→", "|", "[0.5]", "[1]", "[0]", "[1e-300]", "[1e999]", "[", "]", "E", "F", "S", "'x0'", "'+'", "'-'",
    "'('", "')'", "'^2'", "'c'", "'3.5'", "%start", "%start E", "\\\n", "\n|", "\n", "#", "'", '"', "''", " ",
    "'sin' '(' E ')'", "E '+' E", "'1e999'", "'neg'", "'#'", "E -> 'x' [1]\n",
)  # fmt: skip


def read(content: bytes, rng: random.Random, place: Path) -> None:
    """Read a file; a grammar that is accepted is written, read back, checked and sampled."""
    path = place / "grammar.pcfg"
    path.write_bytes(content)
    grammar = load(path)
    if len(grammar.rules) <= 200:
        assert PCFG.parse(str(grammar), grammar.library).rules == grammar.rules
        grammar.check()
        grammar.sample(2, np.random.default_rng(0), max_height=4, max_size=12)


def warm_up(place: Path) -> None:
    for name in ("trig", "nguyen-1"):
        load(name).check()
        load(name).sample(2, np.random.default_rng(0), max_height=4, max_size=12)


KINDS = (Kind("grammar (PCFG)", 100, lambda rng: encoded(rng, mutated(rng, SEEDS, PIECES)), read, warm_up),)
