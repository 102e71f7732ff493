"""Settings of the template search."""

from __future__ import annotations

from dataclasses import dataclass, fields

from edhie.errors import SearchError
from edhie.evaluate.numbers import check_whole


@dataclass(frozen=True)
class TemplateConfig:
    """The template, and settings of the search for its unknown parts."""

    template: str = ""
    """The form: `f(x0)*exp(-c*x1) + g(x1)`, in which calls of functions that do not exist are unknown parts."""
    operators: tuple[str, ...] | None = None
    """Names of the operators that parts may have; None for all of the library's."""
    rows: int = 256
    """Rows on which pieces are screened, spread over the target's range."""
    fit_rows: int = 1000
    """Rows on which constants are fitted."""
    first_pieces: int = 300
    """New pieces of each part at first; the number grows 1.5-fold from round to round."""
    most_pieces: int = 1500
    """Maximum number of new pieces of each part in a round."""
    kept_pieces: int = 2500
    """Maximum number of pieces kept for each part; the simplest are kept."""
    largest_piece: int = 20
    """Maximum number of nodes of a piece."""
    largest_expression: int = 120
    """Maximum number of nodes of a whole expression."""
    population: int = 40
    """Whole expressions kept: so many with the shortest descriptions, and so many on the Pareto front."""
    written_a_round: int = 8
    """New contents of a part tried in a round: so many of one piece, of two pieces and of three."""
    offspring: int = 24
    """Offspring in a round: whole expressions with one part mutated, or taken from another."""

    def __post_init__(self) -> None:
        if not isinstance(self.template, str):
            raise SearchError(f"a template is a text, such as 'f(x0) + g(x1)', not {self.template!r}")
        for each in fields(self)[2:]:  # all but the template and its operators
            check_whole(each.name, getattr(self, each.name), 2 if each.name == "population" else 1)
