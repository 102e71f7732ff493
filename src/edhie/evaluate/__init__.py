"""Evaluation of expressions on data: values, errors, fitted constants."""

from edhie.evaluate.constants.fitting import CHEAP, THOROUGH, FitConfig, Fitted, fit_constants
from edhie.evaluate.constraints import Constraints
from edhie.evaluate.counting import Counts
from edhie.evaluate.data import Data
from edhie.evaluate.evaluator import Evaluator, Scores
from edhie.evaluate.losses import LOSSES, Loss, r2
from edhie.evaluate.reading import read_columns, read_data
from edhie.evaluate.values import squared_errors, values

__all__ = [
    "CHEAP", "LOSSES", "THOROUGH", "Constraints", "Counts", "Data", "Evaluator", "FitConfig", "Fitted", "Loss",
    "Scores", "fit_constants", "r2", "read_columns", "read_data", "squared_errors", "values",
]  # fmt: skip
