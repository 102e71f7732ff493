"""The process of a rival: JSON lines in and out, and a time limit that holds whatever the package does."""

from __future__ import annotations

import faulthandler
import sys
import time
import warnings
from importlib import import_module
from typing import Any

import numpy as np

from edhie.bench.rivals import Question
from edhie.processes import serve
from edhie.search.strategies import imported

PREPARE = "prepare_"
"""Prefix of a function in the rival's module that prepares what all of its runs share, such as a model."""
PACKAGES = "PACKAGES"
"""Name of a tuple in the rival's module: what is imported before its first run."""


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """Return a rival's formula, its evaluations and its seconds, or the error that it raised."""
    # ends the process even if the package holds the GIL
    faulthandler.dump_traceback_later(message["limit"], exit=True, file=sys.stderr)
    warnings.simplefilter("ignore")
    try:
        fit = imported(message["rival"])
        question = Question.from_json(message["question"])
        if message["is_preparation"]:
            fit.__globals__.get(f"{PREPARE}{fit.__name__}", lambda question: None)(question)
            for package in fit.__globals__.get(PACKAGES, ()):
                import_module(package)
            return {}
        began = time.perf_counter()
        with np.errstate(all="ignore"):
            found = fit(question)
        seconds = time.perf_counter() - began
        if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], str)):
            return {"error": f"its answer is {found!r}, not a formula and a number of evaluations"}
        return {"formula": found[0], "evaluated": None if found[1] is None else int(found[1]), "seconds": seconds}
    except MemoryError:
        return {"error": "there is too little memory for it"}
    except BaseException as error:  # packages in other languages raise more than Exception
        return {"error": f"{type(error).__name__}: {error}"}
    finally:
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    serve(answer)
