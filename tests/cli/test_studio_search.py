"""A search of the studio stops when its server is gone, and keeps what it found."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
CHILD = """
import os, pathlib, signal, sys, time
from edhie import processes
from edhie.cli import studio
processes.LOOK_EVERY = 0.05
def stop(*_):
    pathlib.Path(sys.argv[1]).write_text("stopped")
    os._exit(130)
signal.signal(signal.SIGTERM, stop)
processes.end_with(os.getppid(), studio.stop)
print("ready", flush=True)
time.sleep(30)
"""
PARENT = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', *sys.argv[1:]]).wait()"


def test_a_search_stops_when_its_server_is_killed(tmp_path: Path, environment: dict[str, str]) -> None:
    note = tmp_path / "note"
    command = [sys.executable, "-c", PARENT, CHILD, os.fspath(note)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        assert not note.exists()
        parent.kill()
        parent.wait()
        ended = time.monotonic() + 10
        while not note.exists() and time.monotonic() < ended:
            time.sleep(0.02)
    assert note.read_text() == "stopped"
