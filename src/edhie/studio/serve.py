"""`serve`: the server, from its address to its end."""

from __future__ import annotations

import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable

import uvicorn

from edhie.errors import EdhieError, raised_as
from edhie.files import locked
from edhie.studio.app import studio_app
from edhie.studio.runs import is_run
from edhie.studio.security import LOOPBACK, Access, kept_secret
from edhie.studio.studio import Options, Studio

SECRET = ".studio-secret"
PORTS = 20  # that are tried after the one that was asked for, if that is taken
LEAVE_SECONDS = 2  # that open connections have


def serve(
    options: Options,
    *,
    host: str = "127.0.0.1",
    port: int = 8321,
    is_exact: bool = False,
    opens_browser: bool = True,
    tell: Callable[[str], None] = print,
) -> None:
    """Serve the page until Ctrl-C; `tell` prints its address. Unless `is_exact`, a later port is taken if need be."""
    with raised_as(EdhieError, f"cannot write to {options.folder}"):
        options.folder.mkdir(parents=True, exist_ok=True)
    with locked(options.folder, "studio"), _listening(host, port, 1 if is_exact else PORTS) as listener:
        own_port: int = listener.getsockname()[1]
        with raised_as(EdhieError, f"cannot write to {options.folder}"):  # beside the runs: a run holds no secret
            is_run_folder = is_run(options.folder)
            cookie = secrets.token_urlsafe(32) if is_run_folder else kept_secret(options.folder / SECRET)
        access = Access(host, own_port, cookie)
        studio = Studio(options)
        config = uvicorn.Config(
            studio_app(studio, access), log_level="warning", access_log=False, lifespan="on",
            timeout_graceful_shutdown=LEAVE_SECONDS, server_header=False, date_header=False, ws="none",
        )  # fmt: skip
        tell(f"{access.address}?token={access.token}")
        _Server(config, studio, access, opens_browser=opens_browser).run(sockets=[listener])


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a host."""
    return host in LOOPBACK or host.startswith("127.")


class _Server(uvicorn.Server):
    """A server that opens a browser when it is ready, and ends streams before it waits for connections to end."""

    def __init__(self, config: uvicorn.Config, studio: Studio, access: Access, *, opens_browser: bool) -> None:
        super().__init__(config)
        self._studio, self._access, self._opens_browser = studio, access, opens_browser

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self._opens_browser:
            address = self._access.address_for_a_browser()
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()  # some do not return

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._studio.is_closing.set()
        await super().shutdown(sockets)


def _listening(host: str, port: int, tries: int) -> socket.socket:
    """Return a socket that listens on a port, or on the next one that is free."""
    for number in [port] if port == 0 else range(port, min(port + tries, 65536)):
        listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
            listener.listen()
        except OSError as error:
            listener.close()
            fault = error
            continue
        return listener
    raise EdhieError(f"cannot serve on {host}, port {port}: {fault.strerror or fault}; choose another --port")
