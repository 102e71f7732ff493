"""Processes that edhie starts."""

from __future__ import annotations

import subprocess
from pathlib import Path

from edhie.processes import command_of, import_path


def test_modules_of_the_working_folder_are_not_imported(tmp_path: Path) -> None:
    """A folder from a stranger may hold a `json.py`."""
    (tmp_path / "json.py").write_text("raise SystemExit(3)")
    done = subprocess.run([*command_of("json.tool"), "--help"], cwd=tmp_path, env=import_path(), capture_output=True)
    assert done.returncode == 0, done.stderr
