"""An operator of your own: the saturation vapour pressure of meteorology, in an equation for how leaves lose water.

A field has functions that no general set of operators holds. Give them as NumPy functions, and equations are made of
them like of any other operator.
"""

import numpy as np
import pandas as pd
import sympy

from edhie import EDHiERegressor, operator


def saturation(t, exp=np.exp):
    """Water vapour pressure over water at t °C, in hPa (Magnus's formula, Bolton's constants)."""
    return 6.112 * exp(17.67 * t / (t + 243.5))


es = operator(
    "es",  # its name in formulas, as in es(leaf)
    1,  # the number of its operands, 1 or 2
    numpy=saturation,  # on arrays; NaN or infinity where it has no value
    sympy=lambda t: saturation(t, exp=sympy.exp),  # so that SymPy can differentiate and simplify it; may be left out
    latex=r"e_s\left({0}\right)",  # how it prints; may be left out
)

# Measurements whose law is known: water leaves a leaf in proportion to the difference of the vapour pressures inside
# the leaf, which is saturated, and in the air, which is at some relative humidity.
rng = np.random.default_rng(0)
X = pd.DataFrame({"leaf": rng.uniform(5, 40, 60), "air": rng.uniform(5, 40, 60), "humidity": rng.uniform(0.2, 0.9, 60)})
flow = 0.35 * (saturation(X["leaf"]) - X["humidity"] * saturation(X["air"])) + 0.02 * rng.normal(size=60)

# Operators without compiled code are fitted slowly, so a small budget: one of expressions gives the same everywhere.
model = EDHiERegressor(max_time=None, max_evaluations=500, operators=["+", "-", "*", es], random_state=0)
model.fit(X, flow.rename("flow"))
known = zip(model.best_.uncertainty.values, model.best_.uncertainty.standard_errors, strict=True)
print("found:", model.best_.text(4))
print("with: ", ", ".join(f"{value:.4f} ± {error:.4f}" for value, error in known))
print("LaTeX:", model.latex())
print("SymPy:", sympy.N(model.sympy(), 4))
