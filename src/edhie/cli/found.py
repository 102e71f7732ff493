"""What is told of a search that is over: the front as a table, the equation to trust, or all of it as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from edhie.console import say
from edhie.evaluate.data import Data
from edhie.evaluate.losses import r2
from edhie.expr import Expr, Forest
from edhie.results import Candidate, SearchResult
from edhie.results.description import shortest_description

UNDEFINED = "undefined"  # in place of R², where an equation has no value in some row


@dataclass(frozen=True, eq=False)
class Judged:
    """A candidate, and the share of the target's variance that it explains."""

    candidate: Candidate
    r2: float
    r2_validation: float | None
    """None where no rows were held out."""

    def as_json(self) -> dict[str, Any]:
        """With all digits."""
        return {
            "complexity": self.candidate.complexity,
            "error": self.candidate.error,
            "r2": _finite(self.r2),
            "r2_validation": _finite(self.r2_validation),
            "expression": str(self.candidate.expr),
        }


@dataclass(frozen=True, eq=False)
class Report:
    """What a search came to on its data."""

    result: SearchResult
    target: str
    front: tuple[Judged, ...]
    selected: Judged | None

    @classmethod
    def of(cls, result: SearchResult, target: str, train: Data, validation: Data | None) -> Report:
        """The front judged, and the equation that describes the data in the fewest bits."""
        chosen = shortest_description(result.candidates, train, validation=validation)
        front = _judged(list(result.front), train, validation)
        selected = None if chosen is None else _judged([chosen], train, validation)[0]
        return cls(result, target, front, selected)

    def equation(self, expr: Expr, digits: str = "") -> str:
        """`T = 20 + 60*exp(-t/7)`."""
        return f"{self.target} = {expr:{digits}}"

    def print(self) -> None:
        """The front, from the simplest on, then the selected equation."""
        has_validation = any(each.r2_validation is not None for each in self.front)
        names = ["complexity", f"{'error':>10}", f"{'R² train':>10}"] + [f"{'R² valid.':>10}"] * has_validation
        say("  ".join([*names, f"{self.target} ="]))
        for each in self.front:  # equations come last: they may be long, and a line is never broken
            cells = [f"{each.candidate.complexity:>10g}", f"{each.candidate.error:>10.4g}", _share(each.r2)]
            cells += [_share(each.r2_validation)] if each.r2_validation is not None else []
            say("  ".join([*cells, f"{each.candidate.expr:.6g}"]))
        say("")
        self.print_selected()

    def print_selected(self) -> None:
        """One line: the selected equation."""
        if self.selected is not None:
            say(self.equation(self.selected.candidate.expr, ".6g"))

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        result = self.result
        return {
            "target": self.target,
            "selected": None if self.selected is None else self.selected.as_json(),
            "front": [each.as_json() for each in self.front],
            "strategy": result.strategy,
            "seed": result.seed,
            "stopped": result.stopped,
            "seconds": round(result.seconds, 3),
            "counts": asdict(result.counts),
        }


def _judged(candidates: Sequence[Candidate], train: Data, validation: Data | None) -> tuple[Judged, ...]:
    from edhie.evaluate.values import values

    found = []
    for each in candidates:
        forest = Forest.from_exprs([each.expr])
        on_train = r2(train.y, values(forest, train.columns)[0])
        held_out = None if validation is None else r2(validation.y, values(forest, validation.columns)[0])
        found.append(Judged(each, on_train, held_out))
    return tuple(found)


def _share(r2: float) -> str:
    if not math.isfinite(r2):
        return f"{UNDEFINED:>10}"
    return f"{round(r2, 6) + 0.0:>10.6f}" if r2 > -10 else f"{r2:>10.3g}"  # + 0.0: no -0.000000


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
