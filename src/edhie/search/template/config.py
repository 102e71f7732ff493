"""Settings of a search within a template."""

from __future__ import annotations

from dataclasses import dataclass, fields

from edhie.errors import SearchError
from edhie.evaluate.numbers import check_whole


@dataclass(frozen=True)
class TemplateConfig:
    """The form that is given, and how its parts are looked for."""

    template: str = ""
    """The form: `f(x0)*exp(-c*x1) + g(x1)`, in which calls of functions that do not exist are unknown parts."""
    operators: tuple[str, ...] | None = None
    """Names of the operators that parts may have; None for all of the library's."""
    rows: int = 256
    """Rows, spread over the target's range, that pieces of parts are screened on."""
    fit_rows: int = 1000
    """Rows that constants are fitted on."""
    first_pieces: int = 300
    """Pieces of each part looked at in the first round; every round has half as many again."""
    most_pieces: int = 1500
    """Pieces of each part looked at in a round at most."""
    kept_pieces: int = 2500
    """Pieces of each part kept to build with, the plainest first."""
    largest_piece: int = 20
    """Nodes of a part at most."""
    largest_expression: int = 120
    """Nodes of a whole expression at most."""
    population: int = 40
    """Whole expressions kept to continue from: so many with the shortest descriptions, and so many on the front."""
    written_a_round: int = 8
    """New contents of a part that are tried in a round: so many of one piece, of two and of three."""
    offspring: int = 24
    """Whole expressions with one part changed, or taken from another, a round."""

    def __post_init__(self) -> None:
        if not isinstance(self.template, str):
            raise SearchError(f"a template is a text, such as 'f(x0) + g(x1)', not {self.template!r}")
        for each in fields(self)[2:]:  # all but the template and its operators
            check_whole(each.name, getattr(self, each.name), 2 if each.name == "population" else 1)
