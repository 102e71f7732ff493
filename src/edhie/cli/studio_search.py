"""A search of the studio: the command line, in a process that stops when the server is gone.

It then keeps what it found, as after SIGTERM; the next server resumes it. So no search is left over that nobody
watches, and two never compete for a folder.
"""

from __future__ import annotations

import os
import signal
import threading
import time

from edhie.cli import main
from edhie.processes import LOOK_EVERY


def stop_with(parent: int) -> None:
    """Stop this process, as SIGTERM does, as soon as its parent is gone, even if that was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_EVERY)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    stop_with(int(os.environ["EDHIE_STUDIO"]))
    main()
