"""`TemplateSearch`: the form of an equation is given, and its unknown parts are searched.

1.  Start with parts that are constants, polynomials or simple pieces (`population.py`), fitted from several starts.
2.  Every second round, add pieces to the pool of each part (`pool.py`).
3.  Take one whole expression of the population. For each of its parts in turn, with the others fixed, compute the
    values that the part should have in each row (`position.py`), find sums and products of pieces near these by least
    squares (`screening.py`), substitute them and fit all constants together (`fitting.py`).
4.  Mutate parts as trees, and exchange them between whole expressions (crossover).
5.  Simplify the best whole expressions: shorten parts, or insert constants into their functions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from edhie.errors import SearchError
from edhie.evaluate.constants.fitting import with_parts
from edhie.evaluate.data import few_rows
from edhie.expr import Forest
from edhie.search.arrays import has_missing, under
from edhie.search.base import State, Strategy, Task
from edhie.search.pieces.rewriting import loosened, shortened, shorter
from edhie.search.template.fitting import Fitting
from edhie.search.template.pool import Pool
from edhie.search.template.population import Population, starts
from edhie.search.template.position import position_of
from edhie.search.template.screening import best_contents, best_products, single_contents
from edhie.search.template.template import Template, TemplateConfig

TIDIED = 2  # whole expressions that are simplified in a round
GATHERED_EVERY = 2  # rounds between additions to the pools
KNOWN = 500  # last expressions scored before the search that are checked for being instances
TAKEN = 0.25  # share of offspring whose part is taken from another whole expression
PATIENCE = 30  # rounds without a new expression after which the search ends


class TemplateSearch(Strategy):
    """Searches the unknown parts of a template."""

    name: ClassVar[str] = "template"

    def __init__(self, config: TemplateConfig = TemplateConfig()) -> None:  # noqa: B008 -- frozen
        if not isinstance(config, TemplateConfig):
            raise SearchError(f"a template search is configured by a TemplateConfig, not {config!r}")
        self.config = config

    @np.errstate(all="ignore")  # data may be of any size: values that overflow are dropped
    def begin(self, task: Task) -> None:
        """Read the template and choose rows."""
        evaluator, config = task.evaluator, self.config
        if not config.template.strip():
            example = "TemplateSearch(TemplateConfig('f(x0) + c*g(x1)'))"
            raise SearchError(f"the strategy 'template' needs a form whose parts are unknown: {example}")
        self._task = task
        self._template = Template.parse(config.template, evaluator.library)
        self._few = few_rows(evaluator.data, config.rows)
        fit_data = few_rows(evaluator.data, config.fit_rows)
        self._fitting = Fitting(self._template, fit_data, evaluator.constants)
        self._all_fitting = Fitting(self._template, evaluator.data, evaluator.constants)
        self._is_sampled = fit_data is not evaluator.data
        self._population = Population(evaluator.library, fit_data, config.population, task.criterion)
        self._pools = {  # a part without variables is a constant
            part: Pool(self._template, part, task.generator, self._few, config)
            for part in range(len(self._template.names))
            if self._template.variables(part)
        }
        self._round = self._idle = 0

    # -- one round ------------------------------------------------------------------------

    @np.errstate(all="ignore")
    def step(self, rng: np.random.Generator) -> bool:
        """Do one round, as described at the top of this module."""
        before = self._task.evaluator.counts.executed
        if self._round == 0:
            self._open(rng)
        else:
            self._search(rng)
        self._round += 1
        self._idle = self._idle + 1 if self._task.evaluator.counts.executed == before else 0
        return self._idle < PATIENCE and not self._is_done()

    def _open(self, rng: np.random.Generator) -> None:
        """Score whole expressions with simple parts, and add instances that were scored before the search."""
        explored = self._task.evaluator.explored
        last = explored.take(np.arange(max(0, len(explored) - KNOWN), len(explored)))
        known = [k for k, expr in enumerate(last) if self._template.matches(expr)]
        self._population.add(last.take(known), explored.errors[max(0, len(explored) - KNOWN) :][known])
        for pool in self._pools.values():
            pool.add(pool.functions, self._task)
        self._score(self._fitting.anew(starts(self._template, self._pools, rng), rng))

    def _search(self, rng: np.random.Generator) -> None:
        if len(self._population) == 0:
            self._score(self._fitting.anew(starts(self._template, self._pools, rng), rng))
            return
        if self._round % GATHERED_EVERY == 1:
            contents = self._template.parts_of(self._population.forest)
            for part, pool in self._pools.items():
                pool.gather(self._round, contents[part].unique(), self._task, rng)
        self._improve_parts(rng)
        self._score_changed(self._exchanged(rng))
        for place in range(min(TIDIED, len(self._population))):
            self._tidy(place)
        if self._is_sampled:  # the best is also fitted to all rows
            self._score(self._all_fitting.from_here(self._population.forest.take([0])))

    def _improve_parts(self, rng: np.random.Generator) -> None:
        """Improve each part of one whole expression in turn, with the others fixed."""
        place = self._population.choose(1, rng) if self._round > len(self._pools) else np.array([0])
        whole = self._population.forest.take(place)
        for part in rng.permutation(list(self._pools)).tolist():
            pool, position = self._pools[part], position_of(self._template, whole, part, self._few)
            if position is None:
                continue
            products, n_products = best_products(pool, position, self.config.written_a_round, rng)
            pool.add(products, self._task, is_good=True)
            contents, n_screened = best_contents(pool, position, self.config.written_a_round)
            contents += single_contents(pool, position, products)
            self._task.tally.screened += n_products + n_screened
            made = self._with_contents(whole, part, pool.to_whole(Forest.from_exprs(contents, pool.library)))
            better = self._score_changed(made)
            whole = whole if better is None else better

    def _with_contents(self, whole: Forest, part: int, contents: Forest) -> Forest:
        """Return copies of one whole expression, each with one of `contents` as a part."""
        again = np.zeros(len(contents), np.int64)
        parts = [each.take(again) for each in self._template.parts_of(whole)]
        parts[part] = contents
        return self._template.filled(parts, self._template.emptied(whole).take(again))

    def _exchanged(self, rng: np.random.Generator) -> Forest:
        """Return offspring: whole expressions with one part mutated, or taken from another."""
        template, population, n = self._template, self._population, self.config.offspring
        first, second = population.choose(n, rng), population.choose(n, rng)
        parts = template.parts_of(population.forest)
        own, others = ([each.take(chosen) for each in parts] for chosen in (first, second))
        changed = rng.integers(0, len(parts), n)
        is_taken = (rng.random(n) < TAKEN) & (len(parts) > 1)
        for part, coming in enumerate(others):
            pool = self._pools.get(part)
            if pool is not None:
                made = pool.from_whole(own[part])
                made = pool.to_whole(pool.changed(made, rng)) if len(made) == n else own[part]
                coming = with_parts(made, np.flatnonzero(is_taken), coming.take(is_taken))
            is_changed = changed == part
            own[part] = with_parts(own[part], np.flatnonzero(is_changed), coming.take(is_changed))
        return template.filled(own, template.emptied(population.forest.take(first)))

    def _tidy(self, place: int) -> None:
        """Score variants of one whole expression: a part shortened, or constants inserted into its functions."""
        whole = self._population.forest.take([place])
        made = [whole.take([])]
        for part, pool in self._pools.items():
            contents = pool.from_whole(self._template.parts_of(whole)[part])
            if len(contents):
                halves = replace(contents, values=np.round(2 * contents.values) / 2)  # x^1.9998 may be meant as x^2
                variants = Forest.concatenate([shortened(contents), shortened(halves), shorter(contents)]).unique()
                loose = Forest.from_exprs([loosened(contents[0])], pool.library)
                both = (variants, loose.take(loose.sizes > contents.sizes))
                made += [self._with_contents(whole, part, pool.to_whole(each)) for each in both]
        self._score_changed(Forest.concatenate(made))

    # -- scoring --------------------------------------------------------------------------

    def _score_changed(self, forest: Forest) -> Forest | None:
        """Fit and score the new expressions; return the one with the lowest error, or None."""
        evaluator = self._task.evaluator
        is_short = forest.sizes <= self.config.largest_expression
        for part in self._template.parts_of(forest):
            is_short &= part.sizes <= 2 * self.config.largest_piece
        fresh = evaluator.unseen(forest.take(is_short).unique())
        fresh = fresh[: self._task.within_budget(len(fresh))]
        self._task.tally.refits += len(fresh) if len(fresh.values) else 0
        return self._score(self._fitting.from_here(fresh))

    def _score(self, forest: Forest) -> Forest | None:
        """Score instances without unfitted constants; return the one with the lowest error, or None.

        Unfitted ones are dropped, because an evaluator would not tie the constants of a part that is called twice.
        """
        whole = forest.take(~has_missing(forest))
        scores = self._task.evaluator.score(whole)
        errors = np.where(scores.is_scored, scores.errors, np.inf)
        if not np.isfinite(errors).any():
            return None
        self._population.add(whole, errors)
        return whole.take([int(np.argmin(errors))])

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
        """Return population and pools as arrays; the rest follows from the data."""
        found: dict[str, Any] = {"round": np.array([self._round, self._idle])}
        found |= {f"population.{name}": array for name, array in self._population.state().items()}
        for part, pool in self._pools.items():
            found |= {f"pool{part}.{name}": array for name, array in pool.state().items()}
        return found

    @np.errstate(all="ignore")
    def restore(self, state: State) -> None:
        """Restore the search from a snapshot."""
        self._round, self._idle = map(int, state["round"])
        self._population.restore(under("population.", state))
        for part, pool in self._pools.items():
            pool.restore(under(f"pool{part}.", state))
