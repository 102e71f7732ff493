"""Descriptions of saved folders, edited by hand: without their digests, as in folders of earlier releases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from edhie.storage import CHECKSUM, FILES


def unsealed(path: Path) -> dict[str, Any]:
    """Take the digests out of a description, so that it and the files beside it may be changed; return the rest."""
    description = json.loads(path.read_text(encoding="utf-8"))
    kept = {name: value for name, value in description.items() if name not in (CHECKSUM, FILES)}
    path.write_text(json.dumps(kept), encoding="utf-8")
    return kept
