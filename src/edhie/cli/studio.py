"""`edhie studio`: a page in the browser. Run as a module, it is one of its searches.

A search is the command line, in a process that stops when the server is gone. It then keeps what it found, as after
SIGTERM; the next server resumes it. So no search is left over that nobody watches, and two never compete for a folder.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Annotated

import platformdirs
import typer

from edhie.cli import main
from edhie.console import error_console, say
from edhie.errors import MissingExtraError
from edhie.processes import end_with

WHAT_IT_MEANS = (
    "--host {host} lets other machines reach the studio: whoever has the address with its token can read your tables, "
    "start searches and delete runs, and anyone on the network in between can read along: nothing is encrypted. "
    "If that is what you want, add --allow-other-machines; a tunnel (ssh -L 8321:localhost:8321) needs neither"
)


def studio(
    folder: Annotated[
        Path | None,
        typer.Option(help="Folder of run folders, or one run folder.", show_default="edhie-studio in your documents"),
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to serve on.", show_default="8321, or the next free one")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    searches: Annotated[int, typer.Option(min=1, help="Searches that run at the same time.")] = 1,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Cores for each search.", show_default="all, shared by the searches")
    ] = None,
    max_bytes: Annotated[int, typer.Option(min=1, help="Size of the largest table, in bytes.")] = 100_000_000,
    max_rows: Annotated[int, typer.Option(min=1, help="Rows of the largest table.")] = 1_000_000,
    max_columns: Annotated[int, typer.Option(min=1, help="Columns of the largest table.")] = 1000,
    host: Annotated[str, typer.Option(help="Address to serve on.")] = "127.0.0.1",
    allow_other_machines: Annotated[
        bool, typer.Option("--allow-other-machines", help="Needed for a --host that other machines can reach.")
    ] = False,
) -> None:
    """Open a page in the browser: from a table to an equation without typing commands. Ctrl-C ends it."""
    try:
        from edhie.studio.serve import is_loopback, serve
        from edhie.studio.studio import Options
        from edhie.studio.uploads import Limits
    except ImportError as error:
        raise MissingExtraError("the studio", "studio") from error
    if not is_loopback(host) and not allow_other_machines:
        raise typer.BadParameter(WHAT_IT_MEANS.format(host=host))

    def tell(address: str) -> None:
        say(f"the studio is at {address}")
        if not is_loopback(host):
            say("other machines open it by the name or number of this one, with the same token", to=error_console)
        say(f"runs are kept in {chosen}; Ctrl-C ends the studio, and the next one resumes", to=error_console)

    documents = Path(platformdirs.user_documents_dir())
    chosen = folder or (documents if documents.is_dir() else Path.home()) / "edhie-studio"
    limits = Limits(max_bytes, max_rows, max_columns)
    serve(
        Options(chosen, limits, searches, jobs), host=host, port=8321 if port is None else port,
        is_exact=port is not None, opens_browser=browser, tell=tell,
    )  # fmt: skip


def stop() -> None:
    """Stop this process, as SIGTERM does."""
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    end_with(int(os.environ["EDHIE_STUDIO"]), stop)
    main()
