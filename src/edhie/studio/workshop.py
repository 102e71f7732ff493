"""`Workshop`: a child process that answers questions about data and formulas, and is killed if it takes too long.

Nothing else can stop Python inside of one operation on huge numbers, or a library that reads a damaged file. Run as a
module, this is the process: it answers by the functions of `answers`, which are imported when needed.
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from importlib import import_module
from typing import Any

from edhie.errors import EdhieError
from edhie.processes import command_of, import_path, serve
from edhie.safe_text import printable
from edhie.studio.question import Refused

LONGEST = 1 << 28  # bytes of an answer
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # the search needs the cores
END_SECONDS = 2.0  # that a process has to end after it was killed
MEMORY = 6 << 30  # bytes of address space of the process


class Workshop:
    """One process, which is started when it is needed; questions are answered in turn."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def ask(self, what: str, /, *, seconds: float, **arguments: Any) -> Any:
        """Return the answer; raise `Refused` if there is none within so many seconds of work."""
        async with self._turn:
            process = await self._started()
            message = json.dumps({"question": what, "arguments": arguments})
            try:
                line = await asyncio.wait_for(_exchange(process, message), seconds)
            except TimeoutError:
                await self.close()
                raise Refused(f"this took longer than {seconds:g} seconds, and was stopped; ask for less") from None
            except BaseException:  # whoever asked has gone: the answer must not be taken for that of the next question
                await self.close()
                raise
            if not line.endswith(b"\n"):
                await self.close()
                raise Refused("this took more memory than there is, or broke the reader; ask for less", 422)
        answer = json.loads(line)
        if "refused" in answer:
            refused = answer["refused"]
            raise Refused(refused["error"], refused["status"], where=refused.get("where"))
        return answer["found"]

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            environment = import_path() | ENVIRONMENT
            self._process = await asyncio.create_subprocess_exec(
                *command_of("edhie.studio.workshop"),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                env=environment,
                limit=LONGEST,
            )
        return self._process

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            with suppress(TimeoutError):  # it waits for pipes, too, which a process started by this one may still hold
                await asyncio.wait_for(process.wait(), END_SECONDS)


async def _exchange(process: asyncio.subprocess.Process, message: str) -> bytes:
    """Return the line that answers a message; empty if the process ends before it."""
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the process has no pipes")
    try:
        process.stdin.write(f"{message}\n".encode())
        await process.stdin.drain()
        return await process.stdout.readline()
    except (ConnectionError, ValueError):
        return b""


# -- the process ------------------------------------------------------------------------------


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
    _limit_memory()
    warnings.simplefilter("ignore")
    serve(answer)
