"""A search of your own: the best are changed and the better kept; against random drawing on a Nguyen problem.

A `Strategy` does one step at a time. `run` owns the loop: budget, counting, events, Ctrl-C, checkpoints, resuming.
"""

import numpy as np

from edhie import Evaluator, Forest
from edhie.bench import load_problems
from edhie.bench.metrics import success_threshold
from edhie.generators import load
from edhie.search import Budget, Strategy, run
from edhie.search.pieces.variation import children

PARENTS, OFFSPRING, LENGTH = 100, 500, 1.01  # and by which factor an error must fall for one more node


class Climb(Strategy):
    """The best expressions so far are changed, and what is better takes their places."""

    name = "climb"

    def begin(self, task):
        """Start from nothing; a task has a generator, an evaluator and a budget."""
        self.task = task
        self.best = Forest.from_exprs([], task.evaluator.library)

    def step(self, rng):
        """One generation; every random choice is `rng`'s, and the evaluator stops at the budget by itself."""
        drawn = self.task.generator.sample(OFFSPRING, rng)
        parents = self.best.take(rng.integers(0, len(self.best), OFFSPRING)) if len(self.best) else drawn
        tried = children(parents, drawn, rng)  # subtrees come in from those that were drawn
        scores = self.task.score(Forest.concatenate([self.best, tried]))  # those that it knows cost nothing
        _, distinct = np.unique(scores.forms, return_index=True)  # of equivalent expressions one
        merit = scores.errors[distinct] * LENGTH ** scores.complexities[distinct]
        self.best = scores.forest.take(distinct[np.argsort(merit, kind="stable")[:PARENTS]])
        return True  # False where nothing is left to do

    def state(self):
        """All that later steps follow from, as arrays: a search that was stopped goes on from here."""
        return {"tokens": self.best.tokens, "offsets": self.best.offsets, "values": self.best.values}

    def restore(self, state):
        """Be there again."""
        self.best = Forest.checked(self.best.library, state["tokens"], state["offsets"], state["values"])


def compare(problem_id="NG-7", *, runs=5, evaluations=10_000):
    """Both with the same generator, data, seeds and budget: distinct expressions executed, however often written."""
    problem = next(each for each in load_problems("nguyen") if each.id == problem_id)
    generator = load(f"nguyen-{len(problem.variables)}")
    print(f"{problem.id} is {problem.formula}; {runs} runs of at most {evaluations:,} expressions each")
    for strategy in ("draw", Climb()):
        found = []
        for seed in range(runs):
            rows, y = problem.data("train", seed)
            budget = Budget(evaluations, target_error=success_threshold(y))  # the paper's: an RMSE of 1e-10
            result = run(generator, Evaluator(generator.library, rows, y), strategy=strategy, budget=budget, rng=seed)
            print(f"  {seed}: {result.counts.executed:>6,} executed, RMSE {result.best.error:.1e}: {result.best.expr}")
            found.append(result.stopped == "target")
        print(f"{result.strategy} found it in {sum(found)} of {runs} runs")


if __name__ == "__main__":
    compare()
