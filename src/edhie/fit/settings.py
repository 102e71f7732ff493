"""Settings of a fit: one frozen dataclass, whose defaults and docstrings serve the regressor and the command line."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
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
from edhie.search.strategies import DEFAULT

Selection = Literal["mdl", "best", "accuracy", "score"]
SELECTIONS: tuple[str, ...] = get_args(Selection)
Noise = Literal["auto", "constant", "proportional", "both", "counts", "student"]
NOISES: tuple[str, ...] = get_args(Noise)


@dataclass(frozen=True)
class Settings:
    """Settings that, with the data, determine the result of a fit."""

    max_time: float | None = 60.0
    """Time limit in seconds. None for no limit."""
    max_evaluations: int | None = None
    """Limit on distinct expressions executed. None for no limit; alone it gives the same result on every machine."""
    target_error: float | None = None
    """Stop at a loss as low as this. None: stop where only rounding errors are left."""
    operators: Sequence[Any] | None = None
    """Operators that equations may use, by name or as your own symbols; None for all of the generator's."""
    generator: Any = None
    """Model folder, or the name of a shipped one. It may also be a `Generator`; None for general-N."""
    strict: bool = False
    """Use the generator's own symbols only. If it has no constants, none are fitted."""
    loss: Any = DEFAULT_LOSS
    """Loss: rmse, mse, mae, nrmse, max or student. Also one_minus_r2, or a function of y, prediction and weights.

    student is robust to gross errors.
    """
    noise: Noise = "auto"
    """Noise model: auto, constant, proportional (to the prediction), both, counts or student.

    student allows gross errors. With auto, the model that describes the residuals best is chosen and named.
    """
    patience: int | None = 100
    """Stop after so many rounds without improvement. At least as many as the best took to find; None for never."""
    selection: Selection = "mdl"
    """Selection rule: mdl, best, accuracy or score. mdl is the shortest description, accuracy is for prediction.

    accuracy takes the simplest equation whose error on unseen rows is not clearly larger than the least: on held-out
    rows, or in cross-validation if there are none.
    """
    complexity: Mapping[str, float] | None = None
    """Weights of symbols in the complexity, by name; the others weigh 1."""
    constraints: Constraints | None = None
    """Limits on the form of equations; None for no limits."""
    guesses: Sequence[str | Expr] = ()
    """Formulas that may be near the truth, over the columns, such as `c*exp(-2*t) + c`.

    They are texts or expressions. Each `c` is a constant to be fitted; a number is a constant that starts at this
    value. A guess is scored as given and with all of its constants fitted, and the search uses its parts. If
    equations have no constants, numbers must be among the symbols. Guesses that the constraints forbid are skipped.
    """
    recalled: Sequence[Expr] = ()
    """Equations of an earlier search, used like guesses; those that the symbols cannot write are skipped."""
    template: str | None = None
    """Form with unknown parts: `f(x)*c + g(t)`. The default search fills each in turn; None for any form."""
    corpus: str | Path | Sequence[str] | None = None
    """Formulas of your field, one per line. A file, a corpus folder or a list; the search learns from them."""
    search: str | Strategy = DEFAULT
    """Search: mosaic, evolve or draw. evolve is the paper's EDHiE, draw random search; a `Strategy` works as well."""
    islands: int | None = None
    """Parallel searches that exchange their best. None: one, on a cluster one for each worker."""
    constants: FitConfig = CHEAP
    """Settings of the fits of constants."""
    seed: int = 0
    """Random seed."""

    def __post_init__(self) -> None:
        for name, known in (("selection", SELECTIONS), ("noise", NOISES)):
            given = getattr(self, name)
            if given not in known:
                hint = suggestion(str(given), known)
                raise SearchError(f"unknown {name} {given!r}; choose one of {', '.join(known)}{hint}")
        if self.patience is not None:
            check_whole("patience", self.patience, 1, or_none="no early stop")
        if self.islands is not None:
            check_whole("islands", self.islands, 1, or_none="one")
        if self.constraints is not None and not isinstance(self.constraints, Constraints):
            raise SearchError(f"constraints is a Constraints, not {self.constraints!r}; make one: edhie.Constraints()")
        is_number = isinstance(self.max_time, int | float | np.number)
        if self.max_time is not None and not (is_number and self.max_time >= 0):
            raise SearchError(f"max_time must be 0 or more seconds, or None for no limit; it is {shown(self.max_time)}")
        if self.template is not None and self.guesses:
            raise SearchError("template and guesses cannot be combined; give one of them")

    @property
    def is_template(self) -> bool:
        """True if equations have the form of a template."""
        return self.template is not None or self.search_name == "template"

    @property
    def keeps_form(self) -> bool:
        """True if equations are shown in the form that the search wrote, which a template or constraints ask for."""
        return self.is_template or self.constraints is not None

    @property
    def is_least_squares(self) -> bool:
        """True if any form is allowed and the loss is the default one."""
        return not self.keeps_form and self.loss == DEFAULT_LOSS

    @property
    def search_name(self) -> str:
        """The name of the search strategy."""
        return self.search if isinstance(self.search, str) else self.search.name

    @property
    def budget(self) -> Budget:
        """The budget of the search."""
        return Budget(self.max_evaluations, self.max_time, self.target_error, self.patience)

    @property
    def loss_name(self) -> str | None:
        """The name of the loss; None for a function."""
        return loss_named(self.loss).name if isinstance(self.loss, str) else None

    @property
    def noise_model(self) -> str:
        """The noise model: with the robust loss, that of gross errors."""
        return "student" if self.loss_name == "student" and self.noise == "auto" else self.noise

    def identity(self) -> dict[str, Any]:
        """Return the settings that must not change when a search is resumed, as JSON, without defaults.

        The data and the evaluator's settings are compared elsewhere.
        """
        names = ("operators", "generator", "strict", "noise", "guesses", "recalled", "template", "corpus", "islands")
        defaults = {each.name: each.default for each in fields(self)}
        found = {name: _plain(getattr(self, name)) for name in names if getattr(self, name) != defaults[name]}
        if self.corpus is not None:
            found["corpus_sha256"] = _digest(self.corpus)
        return {name: value for name, value in found.items() if value != []}

    def as_json(self) -> dict[str, Any]:
        """Return all settings as JSON; objects and functions are replaced by their names."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)} | {
            "loss": self.loss_name,
            "search": self.search_name,
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Settings:
        """Return the settings that `as_json` wrote; objects and functions remain names."""
        known = {each.name for each in fields(cls)}
        given = {name: value for name, value in kept.items() if name in known and name != "recalled"}
        given["guesses"] = tuple(given["guesses"])
        constants, bounds = dict(given["constants"]), {"lower": -math.inf, "upper": math.inf}
        constants |= {name: bound for name, bound in bounds.items() if constants[name] is None}
        given["constants"] = FitConfig(**constants)
        if given["constraints"] is not None:
            given["constraints"] = Constraints(**given["constraints"] | {"forbidden": None})
        return cls(**given)


def _plain(value: Any) -> Any:
    """Return a value as JSON; infinities become None, objects their names."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.number):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Path | Expr):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    if isinstance(value, FitConfig | Constraints):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return getattr(value, "name", type(value).__name__)


def _digest(corpus: str | Path | Sequence[str]) -> str:
    """Return the checksum of the content of a corpus."""
    if isinstance(corpus, str | Path):
        path = Path(corpus)
        return hashlib.sha256((path / EXPRESSIONS if path.is_dir() else path).read_bytes()).hexdigest()
    return hashlib.sha256("\n".join(map(str, corpus)).encode()).hexdigest()
