"""`Refused`: a request that cannot be answered, with the status and the fields of its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from edhie.errors import EdhieError


class Refused(EdhieError):  # noqa: N818 -- an answer, and no fault
    """One clear message; `where` names the part of the request, `remedies` are options that would help."""

    def __init__(
        self,
        message: str,
        status: int = 400,
        *,
        where: dict[str, Any] | None = None,
        remedies: Sequence[dict[str, Any]] = (),
    ) -> None:
        super().__init__(message)
        self.status, self.where, self.remedies = status, where, list(remedies)

    def as_json(self) -> dict[str, Any]:
        """Return the body of the answer."""
        found: dict[str, Any] = {"error": str(self)}
        found |= {"where": self.where} if self.where else {}
        return found | ({"remedies": self.remedies} if self.remedies else {})
