"""How the best error fell: a learning curve."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class History:
    """Where a search stood at each improvement of the best error."""

    executed: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Distinct expressions executed so far."""
    screened: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Combinations screened so far."""
    seconds: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Time since the start."""
    error: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """The best error from here on."""

    def __len__(self) -> int:
        return len(self.error)

    @property
    def best(self) -> float:
        """The lowest error so far; infinite at the start."""
        return float(self.error[-1]) if len(self) else np.inf

    def best_at(self, executed: NDArray[np.int64]) -> NDArray[np.float64]:
        """The best error after so many expressions executed; infinite before the first."""
        places = np.searchsorted(self.executed, executed, side="right")
        found: NDArray[np.float64] = np.append(np.inf, self.error)[places]
        return found

    def extended(
        self, executed: NDArray[np.int64], errors: NDArray[np.float64], *, screened: int, seconds: float
    ) -> History:
        """This history with further improvements at its end."""
        count = len(errors)
        return History(
            np.concatenate([self.executed, executed]),
            np.concatenate([self.screened, np.full(count, screened, np.int64)]),
            np.concatenate([self.seconds, np.full(count, seconds)]),
            np.concatenate([self.error, errors]),
        )
