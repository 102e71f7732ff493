"""A disk that is full, for tests."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


class Disk:
    """A disk that is full once it is said to be; what is there already stays."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_full_for: Callable[[Path], bool] = lambda path: False
        opened = Path.open

        def opening(path: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
            if set(mode) & set("wax+") and self.is_full_for(path):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            return opened(path, mode, *arguments, **options)

        monkeypatch.setattr(Path, "open", opening)
