"""Settings and digests that determine the result of a search, kept in its folder and compared on resume."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import edhie
from edhie.errors import SearchError, shortened
from edhie.search.base import Strategy, Task
from edhie.search.sampling import drawn

FORMAT = 2
SAMPLES = 64  # of a generator, by which it is recognised
PLACES = ("generator", "corpus")
"""Of the settings: paths, which may change; digests of the contents are compared instead."""
DIGEST = "_sha256"


def description(strategy: Strategy, task: Task, seed: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a search; to be resumed, strategy, settings and digests have to be the same."""
    evaluator, data = task.evaluator, task.evaluator.data
    weights = () if data.weights is None else (data.weights,)
    samples, _ = drawn(task.generator, SAMPLES, np.random.default_rng(0))
    return {
        "format": FORMAT,
        "versions": {"edhie": edhie.__version__, "numpy": np.__version__, "python": platform.python_version()},
        "strategy": strategy.name,
        "settings": _plain(strategy.settings()),
        "asked": _plain({**asked, **evaluator.settings()}),
        "budget": asdict(task.budget),
        "seed": seed,
        "digests": {
            "data": _digest(data.columns, data.y, *weights),
            "evaluator": _digest(text=json.dumps(evaluator.settings(), sort_keys=True, default=str)),
            "library": _digest(text=evaluator.library.to_json()),
            "generator": _digest(samples.tokens, samples.offsets, text=samples.library.to_json()),
        },
    }


def check_same(folder: Path, kept: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise an error where the search in a folder is another one than that to be resumed."""
    _check_asked(folder, kept.get("asked"), now["asked"])
    if kept["strategy"] != now["strategy"] or kept["settings"] != now["settings"]:
        raise SearchError(
            f"the search in {folder} has the strategy {kept['strategy']!r} with {kept['settings']}, not "
            f"{now['strategy']!r} with {now['settings']}; pass the same, or another folder"
        )
    other = [what for what, digest in now["digests"].items() if kept["digests"].get(what) != digest]
    if other:
        verb = "differ" if len(other) > 1 or other == ["data"] else "differs"
        what = f"{' and '.join(other)} {verb} from the saved search"
        raise SearchError(f"cannot resume {folder}: {what}; pass the same, or another folder")


def _check_asked(folder: Path, kept: Any, now: Mapping[str, Any]) -> None:
    if not isinstance(kept, Mapping):  # an earlier release did not write it
        return
    for what in dict.fromkeys([*now, *kept]):
        if what in PLACES or kept.get(what) == now.get(what):
            continue
        name, before, after = what.removesuffix(DIGEST), kept.get(what), now.get(what)
        if name != what and before and after:
            told = f"the {name} differs from that of the saved search"
        else:
            told = f"the saved search has {_told(name, before, after)}, not {_told(name, after, before)}"
        raise SearchError(f"cannot resume {folder}: {told}; pass the same, or another folder")


def _told(name: str, value: Any, other: Any) -> str:
    """Return a value as text, of a table only what differs from another one."""
    if value is None:
        return f"no {name}"
    if name in PLACES:
        return f"a {name}"
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        value = {key: each for key, each in value.items() if each != other.get(key)}
    return f"{name} {shortened(json.dumps(value, ensure_ascii=False))}"


def _plain(value: Any) -> Any:
    """Return a value as it would be read from a JSON file."""
    return json.loads(json.dumps(value, default=str))


def _digest(*arrays: NDArray[Any], text: str = "") -> str:
    state = hashlib.sha256(text.encode())
    for array in arrays:
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()
