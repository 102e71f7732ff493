"""Searches: strategies that sample expressions from a generator and score them with an evaluator."""

from edhie.evaluate.counting import Counts as Tally
from edhie.search.base import Budget, Strategy, Task
from edhie.search.run import run
from edhie.search.strategies import STRATEGIES, strategy_named

__all__ = ["STRATEGIES", "Budget", "Strategy", "Tally", "Task", "run", "strategy_named"]
