"""The process of a `Workshop`: answers questions by the functions of `answers`, which are imported when needed."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from typing import Any

from edhie.errors import EdhieError
from edhie.processes import serve
from edhie.safe_text import printable
from edhie.studio.question import Refused

MEMORY = 6 << 30  # bytes of address space


def main() -> None:
    """Answer questions until the server is gone."""
    _limit_memory()
    warnings.simplefilter("ignore")
    serve(answer)


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a question, or why there is none."""
    module, _, name = message["question"].partition(".")
    try:
        found = getattr(import_module(f"edhie.studio.answers.{module}"), name)(**message["arguments"])
        return {"found": found}
    except Refused as error:
        return {"refused": error.as_json() | {"status": error.status}}
    except EdhieError as error:
        return _refused(str(error), 400)
    except MemoryError:
        return _refused("there is too little memory for this; ask for less", 422)
    except RecursionError:
        return _refused("this is nested too deeply", 422)
    except OSError as error:
        return _refused(f"{error.strerror or error}", 400)
    except Exception as error:  # a fault of ours: the page says so, and goes on
        return _refused(f"this cannot be answered: {error!r}", 500)


def _refused(message: str, status: int) -> dict[str, Any]:
    return {"refused": {"error": printable(message, keep="\n"), "status": status}}


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    limit = resource.RLIMIT_AS
    most = resource.getrlimit(limit)[1]
    within = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
    if sys.platform == "linux":  # elsewhere libraries reserve more than they use
        resource.setrlimit(limit, (within, most))


if __name__ == "__main__":
    main()
