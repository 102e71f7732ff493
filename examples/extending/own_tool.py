"""Any tool on the benchmarks: a function of the data that gives a formula, here a sparse sum of simple terms.

edhie bench nguyen --method examples/extending/own_tool.py:sparse

It is judged like every other method: same data and seeds, same measures, same tables. A wrapper around a program in
another language looks the same: call it, and give back its formula over x0, x1, ….
"""

import warnings

import numpy as np
from sklearn.linear_model import OrthogonalMatchingPursuit

MOST_TERMS, SMALL = 5, 1e-6  # and what of the deviation may be left

TERMS = {"{x}": np.positive, "{x}^2": np.square, "{x}^3": lambda x: x**3, "{x}^4": lambda x: x**4}
TERMS |= {f"{name}({{x}})": getattr(np, name) for name in ("sin", "cos", "exp", "sqrt", "log")}


def sparse(X, y, budget, rng):  # noqa: N803
    """The fewest terms, up to five, that leave next to nothing; and how many formulas were tried.

    `budget` has `evaluations`, `seconds` and `target_error`; a tool keeps to it by itself, as far as it can.
    """
    with np.errstate(all="ignore"):
        columns = {
            text.format(x=f"x{k}"): function(X[:, k]) for k in range(X.shape[1]) for text, function in TERMS.items()
        }
    names = [name for name, column in columns.items() if np.isfinite(column).all()]
    table = np.column_stack([columns[name] for name in names])
    sizes = table.std(axis=0)
    for count in range(1, min(MOST_TERMS, len(names)) + 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nothing is left to explain, or columns are alike
            model = OrthogonalMatchingPursuit(n_nonzero_coefs=count).fit(table / sizes, y)
        if np.std(y - model.predict(table / sizes)) <= SMALL * np.std(y):
            break
    weights = model.coef_ / sizes
    terms = [f"{weight!r}*{name}" for weight, name in zip(weights.tolist(), names, strict=True) if weight]
    return " + ".join([repr(float(model.intercept_)), *terms]), count
