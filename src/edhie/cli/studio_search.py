"""A search of the studio: the command line, in a process that stops when the server is gone.

It then keeps what it found, as after SIGTERM; the next server resumes it. So no search is left over that nobody
watches, and two never compete for a folder.
"""

from __future__ import annotations

import os
import signal

from edhie.cli import main
from edhie.processes import end_with


def stop() -> None:
    """Stop this process, as SIGTERM does."""
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    end_with(int(os.environ["EDHIE_STUDIO"]), stop)
    main()
