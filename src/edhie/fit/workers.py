"""Workers of a fit: cores of this machine, or a cluster. They change its duration, not its result."""

from __future__ import annotations

from dataclasses import dataclass

from edhie.errors import SearchError
from edhie.evaluate.numbers import check_whole
from edhie.search.islands.engines import Engine, Here, Processes

ENGINES = ("local", "dask")


def cores_of(n_jobs: int | None) -> int:
    """Return the cores for scikit-learn's `n_jobs`; one inside of another parallel loop, which uses the others."""
    import joblib
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    return 1 if backend.nesting_level else int(joblib.effective_n_jobs(n_jobs))


@dataclass(frozen=True)
class Workers:
    """Cores or cluster on which a fit runs."""

    jobs: int = 1
    """Cores of this machine."""
    engine: str = "local"
    """`local`, or `dask` for a cluster."""
    address: str | None = None
    """Address of a Dask scheduler. None: the current client's, or a new cluster on this machine."""

    def __post_init__(self) -> None:
        check_whole("jobs", self.jobs, 1)
        if self.engine not in ENGINES:
            raise SearchError(f"unknown engine {self.engine!r}; choose one of {', '.join(ENGINES)}")
        if self.address is not None and self.engine != "dask":
            raise SearchError('an address is for a cluster; set engine="dask", or leave out the address')

    def open(self, islands: int | None) -> Engine:
        """Return the engine for a number of islands; close it after use."""
        if self.engine == "dask":
            from edhie.search.islands.engines import Dask

            return Dask(self.address, self.jobs)
        return Here(self.jobs) if self.jobs == 1 or islands in (None, 1) else Processes(self.jobs)
