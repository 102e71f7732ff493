"""Processes that edhie starts."""

from __future__ import annotations

import subprocess
from pathlib import Path

from edhie.processes import PARENT, command_of, end_process, import_path, start_process


def test_modules_of_the_working_folder_are_not_imported(tmp_path: Path) -> None:
    """A folder from a stranger may hold a `json.py`."""
    (tmp_path / "json.py").write_text("raise SystemExit(3)")
    done = subprocess.run([*command_of("json.tool"), "--help"], cwd=tmp_path, env=import_path(), capture_output=True)
    assert done.returncode == 0, done.stderr


def test_a_process_whose_parent_was_gone_before_it_started_ends() -> None:
    process = start_process("edhie.bench.rivals.isolated", {PARENT: "0"})
    try:
        assert process.wait(timeout=30) == 1
    finally:
        end_process(process)
