"""`Refused`: a request that cannot be answered, with the status and the fields of its answer."""

from __future__ import annotations

from typing import Any

from edhie.errors import EdhieError


class Refused(EdhieError):  # noqa: N818 -- an answer, and no fault
    """One clear message; `where` names the part of the request."""

    def __init__(self, message: str, status: int = 400, *, where: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status, self.where = status, where

    def as_json(self) -> dict[str, Any]:
        """Return the body of the answer."""
        return {"error": str(self)} | ({"where": self.where} if self.where else {})
