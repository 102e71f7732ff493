"""The regressor, for people who know scikit-learn."""

from edhie.estimator.regressor import EDHiERegressor

__all__ = ["EDHiERegressor"]
