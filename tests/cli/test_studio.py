"""`edhie studio`: what it refuses before it serves."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from edhie.files import locked


def test_other_machines_need_a_flag(edhie: Callable[..., Any], tmp_path: Path) -> None:
    for host in ("0.0.0.0", "192.168.0.7", "::"):
        code, _, err = edhie("studio", "--host", host, "--folder", tmp_path / "none", "--no-browser")
        assert code == 2
        words = " ".join(err.replace("│", " ").split())
        assert "lets other machines reach the studio" in words
        assert "--allow-other-machines" in words
    assert not (tmp_path / "none").exists()


def test_the_extra_is_named(edhie: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "edhie.studio.serve", None)
    code, _, err = edhie("studio", "--no-browser")
    assert (code, "pip install 'edhie[studio]'" in err) == (3, True)


def test_a_port_that_is_taken(edhie: Callable[..., Any], tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = edhie("studio", "--port", port, "--folder", tmp_path, "--no-browser")
    assert code == 1
    assert f"port {port}" in err
    assert "choose another --port" in err


def test_one_studio_a_folder(edhie: Callable[..., Any], tmp_path: Path) -> None:
    with locked(tmp_path / "own", "studio"):
        pass
    (tmp_path / "file").touch()
    code, _, err = edhie("studio", "--folder", tmp_path / "file" / "below", "--no-browser")
    assert (code, "cannot write to" in err) == (1, True)
