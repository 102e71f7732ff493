"""A generator of your own: whatever gives expressions at random, here sums of damped oscillations.

A generator is any object with a `library`, the symbols that its expressions are made of, and `sample(n, rng)`, which
gives `n` expressions as a `Forest`. All randomness comes from `rng`, so that a search can be repeated.
"""

import numpy as np
import pandas as pd

from edhie import EDHiERegressor, Forest, SymbolLibrary, parse


class Oscillations:
    """An offset and one or two modes, each an envelope times a wave; `c` is a constant that is fitted to the data."""

    envelopes = ("c", "c*exp(c*t)", "c*t*exp(c*t)", "c/(t + c)")
    waves = ("sin(c*t)", "cos(c*t)", "sin(c*t + c)")
    # the variables are named as the data's columns are
    library = SymbolLibrary.of(["+", "*", "/", "exp", "sin", "cos"], ["t"], constant=True)

    def sample(self, n, rng):
        """`n` expressions; the same may come more than once, and is executed once."""
        return Forest.from_exprs((self._one(rng) for _ in range(n)), self.library)

    def _one(self, rng):
        modes = [f"{rng.choice(self.envelopes)}*{rng.choice(self.waves)}" for _ in range(rng.integers(1, 3))]
        return parse(" + ".join(["c", *modes]), self.library)


# A pendulum with friction, and a sensor that is not quite at zero.
rng = np.random.default_rng(0)
t = pd.DataFrame({"t": np.sort(rng.uniform(0, 12, 120))})
angle = 0.4 + 2.5 * np.exp(-0.3 * t["t"]) * np.cos(2.2 * t["t"]) + 0.03 * rng.normal(size=120)

# The same search, which draws and fits 60 expressions and no more, over this generator and over the one that comes
# along. The default search, `search="mosaic"`, takes such a generator too: it takes its expressions apart.
for name, generator in (("oscillations", Oscillations()), ("general-1", "general-1")):
    model = EDHiERegressor(max_time=None, max_evaluations=60, generator=generator, search="draw", random_state=0)
    model.fit(t, angle.rename("angle"))
    executed = model.discoveries_[0].result.counts.executed
    print(f"{name}: {executed} executed, R² = {model.best_.r2:.4f}, {model.best_.text(3)}")
