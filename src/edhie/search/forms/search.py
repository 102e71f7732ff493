"""`FormSearch`: the form of an equation is given, and the default search fills its unknown parts.

1.  Start with parts that are constants or polynomials (`population.py`), fitted from several starts (`fitting.py`).
2.  Take a whole expression, usually the best. For each of its parts in turn, with the others fixed, derive the rows
    that the part has to explain (`view.py`), and do some rounds of the default search on them. While these rows stay
    the same, that search continues.
3.  Put the best new contents into the form, and fit all constants together.
4.  Simplify the best whole expressions: shorten parts, or insert constants into their functions.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import ClassVar

import numpy as np

from edhie.errors import SearchError
from edhie.evaluate.data import few_rows
from edhie.evaluate.numbers import check_whole
from edhie.expr import Expr, Forest
from edhie.form import Form
from edhie.search.arrays import has_missing, read, recoded, under, written
from edhie.search.base import State, Strategy, Task
from edhie.search.forms.fitting import Fitting
from edhie.search.forms.population import Population, starts
from edhie.search.forms.view import view_of
from edhie.search.mosaic import Mosaic, MosaicConfig
from edhie.search.pieces.rewriting import loosened, shortened, shorter
from edhie.search.within import SearchWithin

ROUNDS = 2  # of the search for a part, in one step
CONTENTS = 12  # of a part that are tried in one step
OTHERS_EVERY = 4  # steps between those that begin with another whole expression than the best
TIDIED = 2  # whole expressions that are simplified in a step
KNOWN = 500  # last expressions scored before the search that are checked for being instances
PATIENCE = 12  # steps without a new expression after which the search ends
NUMBERS = ("_round", "_idle")


@dataclass(frozen=True)
class FormConfig:
    """The form, and settings of the search for its unknown parts."""

    template: str = ""
    """The form: `f(x0)*exp(-c*x1) + g(x1)`, in which calls of functions that do not exist are unknown parts."""
    operators: tuple[str, ...] | None = None
    """Names of the operators that parts may have; None for all of the library's."""
    fit_rows: int = 1000
    """Rows on which parts are searched and constants are fitted, spread over the target's range."""
    largest_expression: int = 120
    """Maximum number of nodes of a whole expression."""
    population: int = 40
    """Whole expressions kept: so many with the shortest descriptions, and so many on the Pareto front."""
    parts: MosaicConfig = field(default_factory=lambda: MosaicConfig(symmetries=False))
    """Settings of the search for a part."""

    def __post_init__(self) -> None:
        if not isinstance(self.template, str):
            raise SearchError(f"a template is a text, such as 'f(x0) + g(x1)', not {self.template!r}")
        for each in fields(self)[2:-1]:  # the numbers
            check_whole(each.name, getattr(self, each.name), 2 if each.name == "population" else 1)


class FormSearch(Strategy):
    """Searches the unknown parts of a form."""

    name: ClassVar[str] = "template"

    def __init__(self, config: FormConfig = FormConfig()) -> None:  # noqa: B008 -- frozen
        if not isinstance(config, FormConfig):
            raise SearchError(f"a search for the parts of a form is configured by a FormConfig, not {config!r}")
        self.config = config

    @np.errstate(all="ignore")  # data may be of any size: values that overflow are dropped
    def begin(self, task: Task) -> None:
        """Read the form and choose rows."""
        evaluator, config = task.evaluator, self.config
        if not config.template.strip():
            example = "FormSearch(FormConfig('f(x0) + c*g(x1)'))"
            raise SearchError(f"the strategy 'template' needs a form whose parts are unknown: {example}")
        self._task = task
        self._form = form = Form.parse(config.template, evaluator.library)
        self._data = few_rows(evaluator.data, config.fit_rows)
        self._fitting = Fitting(form, self._data, evaluator.constants)
        self._all_fitting = Fitting(form, evaluator.data, evaluator.constants)
        self._population = Population(evaluator.library, self._data, config.population, task.criterion)
        self._libraries = {  # a part without variables is a constant
            part: form.part_library(part, config.operators) for part in range(len(form.names)) if form.variables(part)
        }
        self._parts: dict[int, _PartSearch] = {}
        self._round = self._idle = 0

    # -- one step -------------------------------------------------------------------------

    @np.errstate(all="ignore")
    def step(self, rng: np.random.Generator) -> bool:
        """Do one round, as described at the top of this module."""
        before = self._task.evaluator.counts.executed
        if self._round == 0:
            self._open(rng)
        elif len(self._population):
            self._search(rng)
        self._round += 1
        self._idle = self._idle + 1 if self._task.evaluator.counts.executed == before else 0
        return self._idle < PATIENCE and not self._is_done()

    def _open(self, rng: np.random.Generator) -> None:
        """Score whole expressions with simple parts, and add instances that were scored before the search."""
        explored = self._task.evaluator.explored
        last = explored.take(np.arange(max(0, len(explored) - KNOWN), len(explored)))
        known = [k for k, expr in enumerate(last) if self._form.matches(expr)]
        self._population.add(last.take(known), explored.errors[max(0, len(explored) - KNOWN) :][known])
        self._score(self._fitting.anew(starts(self._form, self._libraries), rng))

    def _search(self, rng: np.random.Generator) -> None:
        """Search each part of one whole expression in turn, with the others fixed."""
        is_other = self._round % OTHERS_EVERY == 0
        whole = self._population.forest.take(self._population.choose(1, rng) if is_other else [0])
        for part in rng.permutation(list(self._libraries)).tolist():
            search = self._part_search(whole, part)
            if search is not None and (contents := search.rounds(rng)) is not None:
                self._score_changed(self._with_contents(whole, part, contents.cast(self._form.library)))
                whole = self._population.forest.take([0])
        for place in range(min(TIDIED, len(self._population))):
            self._tidy(place)
        if self._data is not self._task.evaluator.data:  # the best is also fitted to all rows
            self._score(self._all_fitting.from_here(self._population.forest.take([0])))

    def _part_search(self, whole: Forest, part: int) -> _PartSearch | None:
        """Return the search for a part, a new one if the rows that it has to explain have changed."""
        others = _without(self._form, whole, part)
        known = self._parts.get(part)
        if known is None or known.others != others:
            self._begin_part(whole, part)
        return self._parts.get(part)

    def _begin_part(self, whole: Forest, part: int) -> None:
        """Begin a search for a part, unless it has no influence."""
        self._parts.pop(part, None)
        data = view_of(self._form, whole, part, self._data)
        if data is not None:
            search = SearchWithin(self._task, Mosaic(self.config.parts), self._libraries[part], data)
            self._parts[part] = _PartSearch(whole, _without(self._form, whole, part), search)

    def _with_contents(self, whole: Forest, part: int, contents: Forest) -> Forest:
        """Return copies of one whole expression, each with one of `contents` as a part."""
        again = np.zeros(len(contents), np.int64)
        parts = [each.take(again) for each in self._form.parts_of(whole)]
        parts[part] = contents
        return self._form.filled(parts, self._form.emptied(whole).take(again))

    def _tidy(self, place: int) -> None:
        """Score variants of one whole expression: a part shortened, or constants inserted into its functions."""
        whole = self._population.forest.take([place])
        made = [whole.take([])]
        for part, library in self._libraries.items():
            contents = self._form.parts_of(whole)[part]
            contents = recoded(contents, contents.library.ids_in(library), library)
            if len(contents) == 0:  # an instance from before the search may have other symbols
                continue
            halves = replace(contents, values=np.round(2 * contents.values) / 2)  # x^1.9998 may be meant as x^2
            loose = Forest.from_exprs([loosened(contents[0])], contents.library)
            variants = [
                shortened(contents),
                shortened(halves),
                shorter(contents),
                loose.take(loose.sizes > contents.sizes),
            ]
            changed = Forest.concatenate(variants).unique()
            made.append(self._with_contents(whole, part, changed.cast(self._form.library)))
        self._score_changed(Forest.concatenate(made))

    # -- scoring --------------------------------------------------------------------------

    def _score_changed(self, forest: Forest) -> None:
        """Fit and score the new expressions."""
        evaluator = self._task.evaluator
        fresh = evaluator.unseen(forest.take(forest.sizes <= self.config.largest_expression).unique())
        fresh = fresh[: self._task.within_budget(len(fresh))]
        self._task.tally.refits += len(fresh) if len(fresh.values) else 0
        self._score(self._fitting.from_here(fresh))

    def _score(self, forest: Forest) -> None:
        """Score instances without unfitted constants.

        Unfitted ones are dropped, because an evaluator would not tie the constants of a part that is called twice.
        """
        whole = forest.take(~has_missing(forest))
        scores = self._task.evaluator.score(whole)
        self._population.add(whole, np.where(scores.is_scored, scores.errors, np.inf))

    def _is_done(self) -> bool:
        """Return whether there is an exact expression; if so, shorten the smallest first."""
        least, size = self._task.evaluator.negligible, np.inf
        while True:
            exact = np.flatnonzero(self._population.errors <= least)
            sizes = self._population.forest.sizes[exact]
            if len(exact) == 0 or sizes.min() >= size or self._task.evaluator.is_exhausted:
                return len(exact) > 0
            size = sizes.min()
            self._tidy(int(exact[np.argmin(sizes)]))

    # -- checkpoints ----------------------------------------------------------------------

    def state(self) -> State:
        """Return the population, and the searches for parts with the whole expressions that they began with."""
        own = {name.strip("_"): getattr(self, name) for name in (*NUMBERS, "_population")}
        parts = {str(part): {"whole": each.whole, "search": each.search} for part, each in self._parts.items()}
        return written(own | {"parts": parts})

    @np.errstate(all="ignore")
    def restore(self, state: State) -> None:
        """Restore the search from a snapshot."""
        for name in NUMBERS:
            setattr(self, name, read(getattr(self, name), name.strip("_"), state))
        read(self._population, "population", state)
        for part in self._libraries:
            if kept := under(f"parts.{part}.", state):
                self._begin_part(read(self._population.forest, "whole", kept), part)
                read(self._parts[part].search, "search", kept)


@dataclass(frozen=True)
class _PartSearch:
    """A search for a part of a whole expression."""

    whole: Forest
    others: Expr
    """The whole expression without the part."""
    search: SearchWithin

    def rounds(self, rng: np.random.Generator) -> Forest | None:
        """Do some rounds; return the best new contents, None once the search is over."""
        found = [self.search.step(rng, CONTENTS) for _ in range(ROUNDS) if not self.search.is_over]
        contents = Forest.concatenate(found).unique() if found else None
        return None if contents is None else contents.take(~has_missing(contents))


def _without(form: Form, whole: Forest, part: int) -> Expr:
    """Return the whole expression with a variable in place of a part."""
    parts = form.parts_of(whole)
    parts[part] = Forest.from_exprs([Expr(form.library, (form.variables(part)[0],))], form.library)
    return form.filled(parts, form.emptied(whole))[0]
