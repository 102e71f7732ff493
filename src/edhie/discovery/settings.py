"""What is asked of a search, in plain terms."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from edhie.corpora.corpus import EXPRESSIONS
from edhie.errors import SearchError, suggestion
from edhie.evaluate import CHEAP, Constraints, FitConfig
from edhie.evaluate.losses import DEFAULT_LOSS, loss_named
from edhie.evaluate.numbers import check_whole, shown
from edhie.expr import Expr
from edhie.search import Budget, Strategy

Selection = Literal["mdl", "best", "accuracy", "score"]
SELECTIONS: tuple[str, ...] = get_args(Selection)
Noise = Literal["auto", "constant", "proportional", "both", "counts", "student"]
NOISES: tuple[str, ...] = get_args(Noise)
SECONDS = 60.0
PATIENCE = 100


@dataclass(frozen=True)
class Settings:
    """How equations are looked for; the data are told apart from it."""

    max_time: float | None = SECONDS
    """Seconds that a search may take; None for no limit."""
    max_evaluations: int | None = None
    """Distinct expressions executed at most; None for no limit. Alone it gives the same result on every machine."""
    target_error: float | None = None
    """A loss that is good enough to stop at; None: go on until nothing but rounding is left."""
    operators: Sequence[Any] | None = None
    """Names of the operators an equation may have, and operators of your own; None for all of the generator's."""
    generator: Any = None
    """What gives expressions: a model folder, a shipped name, or any `Generator`; None for a shipped general one."""
    strict: bool = False
    """Whether equations have the generator's own symbols only, without fitted constants where it has none."""
    loss: Any = DEFAULT_LOSS
    """What is made small: rmse, mse, mae, nrmse, max, student (robust to gross errors) or one_minus_r2.

    A function of y, prediction and weights will do, too.
    """
    noise: str = "auto"
    """The noise of the target: constant, proportional (to the prediction), both, counts, student (with gross errors).

    With auto the one that describes the residuals best is chosen, and named.
    """
    patience: int | None = PATIENCE
    """Rounds without a better equation after which the search stops, if it took no more to find the best one.

    None: search until the time is up.
    """
    selection: str = "mdl"
    """Which equation is chosen: mdl, best, accuracy or score."""
    complexity: Mapping[str, float] | None = None
    """What symbols weigh, by name; those that are not named weigh 1."""
    constraints: Constraints | None = None
    """What equations have to look like, beyond their operators; None: like anything."""
    guesses: Sequence[str | Expr] = ()
    """Formulas that may be near the truth, over the columns, such as `c*exp(-2*t) + c`.

    They are texts or expressions. A `c` is a constant to be fitted, and a number is one too, which begins with this
    value: a guess is scored as it stands, and with all of its constants fitted. The search goes on from it and its
    parts. Where answers have no constants, numbers have to be among their symbols. What the constraints forbid is
    passed over.
    """
    recalled: Sequence[Expr] = ()
    """Equations of an earlier search: guesses too, of which those that cannot be written any more are passed over."""
    template: str | None = None
    """A form with unknown parts, such as `f(x)*exp(-c*t) + g(t)`; it has a search of its own. None: any form."""
    corpus: str | Path | Sequence[str] | None = None
    """Formulas of the field, one a line, or a corpus folder: the generator learns them, and they are pieces.

    A list of texts will do, too.
    """
    strategy: str | Strategy = "mosaic"
    """How to search."""
    constants: FitConfig = CHEAP
    """How constants are fitted."""
    seed: int = 0
    """What every random choice follows from."""

    def __post_init__(self) -> None:
        if self.selection not in SELECTIONS:
            hint = suggestion(str(self.selection), SELECTIONS)
            raise SearchError(f"unknown selection {self.selection!r}; there are {', '.join(SELECTIONS)}{hint}")
        if self.noise not in NOISES:
            hint = suggestion(str(self.noise), NOISES)
            raise SearchError(f"unknown noise {self.noise!r}; there are {', '.join(NOISES)}{hint}")
        if self.patience is not None:
            check_whole("patience", self.patience, 1, or_none="no early stop")
        if self.constraints is not None and not isinstance(self.constraints, Constraints):
            raise SearchError(f"constraints is a Constraints, not {self.constraints!r}; make one: edhie.Constraints()")
        is_number = isinstance(self.max_time, int | float | np.number)
        if self.max_time is not None and not (is_number and self.max_time >= 0):
            raise SearchError(f"max_time must be 0 or more seconds, or None for no limit; it is {shown(self.max_time)}")
        if self.template is not None and self.guesses:
            raise SearchError(
                "a template says what equations look like, so guesses have no place beside it; leave one out"
            )

    @property
    def is_plain(self) -> bool:
        """Whether any form will do, and errors are of least squares."""
        return self.template is None and self.constraints is None and self.loss == DEFAULT_LOSS

    @property
    def budget(self) -> Budget:
        """When the search stops."""
        return Budget(self.max_evaluations, self.max_time, self.target_error, self.patience)

    @property
    def loss_name(self) -> str | None:
        """The name of the loss; None for a function."""
        return loss_named(self.loss).name if isinstance(self.loss, str) else None

    @property
    def noise_model(self) -> str:
        """The noise model: with the robust loss, that of gross errors."""
        return "student" if self.loss_name == "student" and self.noise == "auto" else self.noise

    def asked(self) -> dict[str, Any]:
        """What a search follows from besides its data and its evaluator, as JSON has it; a default is left out.

        A search that is gone on with must be asked the same.
        """
        told = {
            "operators": None if self.operators is None else [getattr(each, "name", each) for each in self.operators],
            "generator": None if self.generator is None else _named(self.generator),
            "strict": self.strict or None,
            "noise": None if self.noise == "auto" else self.noise,
            "guesses": [str(each) for each in self.guesses],
            "recalled": [str(each) for each in self.recalled],
            "template": self.template,
        }
        if self.corpus is not None:
            told |= {"corpus": _named(self.corpus), "corpus_sha256": _digest(self.corpus)}
        return {name: value for name, value in told.items() if value not in (None, [])}


def _named(given: Any) -> Any:
    """A name, a place or a list of texts as it is; of anything else what it is."""
    if isinstance(given, str | Path):
        return str(given)
    return [str(each) for each in given] if isinstance(given, Sequence) else type(given).__name__


def _digest(corpus: str | Path | Sequence[str]) -> str:
    """Of what a corpus holds, wherever it lies."""
    if isinstance(corpus, str | Path):
        path = Path(corpus)
        return hashlib.sha256((path / EXPRESSIONS if path.is_dir() else path).read_bytes()).hexdigest()
    return hashlib.sha256("\n".join(map(str, corpus)).encode()).hexdigest()
