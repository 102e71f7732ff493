"""Progress of a search: a live view on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import time

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from edhie.console import error_console, say
from edhie.events import Event, Finished, Glimpsed, Improved, Progressed, Started
from edhie.results import Front
from edhie.safe_text import printable
from edhie.selection.rules import scores_of

LINE_SECONDS = 10.0  # between two plain lines of progress
SHOWN = 8  # expressions of the front
ERROR_WIDTH = 10
FEW_DIGITS = ".4g"  # during the search; the result is printed with as many as it needs


class SearchView:
    """A listener for `run`, to be used in a `with`; it reads events and nothing else."""

    def __init__(self, console: Console | None = None, *, target: str = "", is_quiet: bool = False) -> None:
        self._console = console or error_console
        self._title = f"{printable(target)} =" if target else "expression"
        self._is_quiet = is_quiet
        self._live: Live | None = None
        self._last: tuple[Progressed, float] | None = None  # the last report, and when it came
        self._line_at = 0.0
        self._chosen = ""  # as last printed

    def __enter__(self) -> SearchView:
        if self._console.is_terminal and not self._is_quiet:
            # redrawn every second, because the clock runs while islands work on an epoch
            self._live = Live(get_renderable=self._picture, console=self._console, transient=True, refresh_per_second=1)
            self._live.start(refresh=True)
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __call__(self, event: Event) -> None:
        """Show an event."""
        if self._is_quiet:
            return
        if isinstance(event, Glimpsed):
            found = f"{self._title} {event.expr:{FEW_DIGITS}}, error {event.error:.4g}"
            self._say(f"a first look: {found}; getting ready to search")
        elif isinstance(event, Started):
            self._say(_started(event))
        elif isinstance(event, Finished):
            used = f"{event.executed:,} expressions, {duration(event.seconds)}"
            self._say(f"{stopped(event.reason, event.idle)} after {used}")
        elif self._live is None:
            self._tell_best(event)
            if isinstance(event, Progressed) and event.seconds - self._line_at >= LINE_SECONDS:
                self._line_at = event.seconds
                self._say(_status(event))
        elif isinstance(event, Progressed):
            self._last = event, time.monotonic()
            self._live.refresh()

    def _picture(self) -> RenderableType:
        """Return the live view: the last report and the elapsed time."""
        if self._last is None:
            return Text("getting ready")
        event, came = self._last
        status = f"{duration(event.seconds + time.monotonic() - came)} · {_status(event)}"
        return Group(Text(status), *self._now(event), _table(event.front, self._title))

    def _tell_best(self, event: Improved | Progressed) -> None:
        """Print each new expression that would be chosen; while none is, each lower error."""
        shown = event if isinstance(event, Improved) and event.chosen is None else event.chosen
        if shown is None:
            return
        text = f"{shown.expr:{FEW_DIGITS}}"
        if event.chosen is None or text != self._chosen:
            self._chosen = text
            self._say(f"{event.executed:>9,}  error {shown.error:<10.4g}  {text}")

    def _now(self, event: Progressed) -> list[RenderableType]:
        """Return the expression that would be chosen now, as one line, if it is known."""
        if event.chosen is None:
            return []
        text = f"now: {self._title} {event.chosen.expr:{FEW_DIGITS}}, error {event.chosen.error:.4g}"
        return [Text(text, no_wrap=True, overflow="ellipsis")]

    def _say(self, text: str) -> None:
        say(text, to=self._console)


def stopped(reason: str, idle: int = 0) -> str:
    """Return why a search ended, as text; `idle` is the number of rounds without a better equation.

    >>> stopped("patience", 120)
    'stopped early: no better equation for 120 rounds,'
    >>> stopped("seconds")
    'stopped by seconds'
    """
    if reason != "patience":
        return f"stopped by {reason}"
    return f"stopped early: no better equation for {f'{idle} rounds' if idle else 'many rounds'},"


def duration(seconds: float) -> str:
    """Return a duration such as `8.2 s`, `3 min 05 s` or `2 h 10 min`.

    >>> duration(185.2)
    '3 min 05 s'
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def _started(event: Started) -> str:
    limits = [
        "" if event.evaluations is None else f"{event.evaluations:,} expressions",
        "" if event.seconds is None else duration(event.seconds),
        "" if event.target_error is None else f"error {event.target_error:g}",
    ]
    until = " or ".join(filter(None, limits)) or "nothing is left to do"
    goes_on = f", going on after {event.executed:,}" if event.executed else ""
    return f"searching ({event.strategy}, seed {event.seed}) until {until}{goes_on}"


def _status(event: Progressed) -> str:
    """Return one line of progress: counts, rate, time left and lowest error."""
    parts = [f"{event.executed:,} executed"]
    parts += [f"{event.screened:,} screened"] if event.screened else []
    parts += [f"{event.refits:,} refits"] if event.refits else []
    parts += [f"{event.rate:,.0f}/s"]
    parts += [] if event.fraction is None else [f"{event.fraction:.0%}"]
    parts += [] if event.seconds_left is None else [f"{duration(event.seconds_left)} left"]
    parts += ["no error yet" if math.isinf(event.error) else f"error {event.error:.4g}"]
    return " · ".join(parts)


def _table(front: Front, title: str) -> RenderableType:
    """Return a table of the best of the front, the lowest error last; long expressions are cut, errors are not."""
    table = Table(box=None, pad_edge=False, show_edge=False, expand=True)
    table.add_column("complexity", justify="right", no_wrap=True, min_width=len("complexity"))
    table.add_column("error", justify="right", no_wrap=True, min_width=ERROR_WIDTH)
    table.add_column(Text(title), no_wrap=True, overflow="ellipsis", ratio=1)
    steps = np.argsort(-scores_of(front)[:-1], kind="stable")[: SHOWN - 1]  # the largest falls of the error
    for k in sorted({*steps.tolist(), *range(len(front))[-1:]}):
        each = front[k]
        table.add_row(f"{each.complexity:g}", f"{each.error:.4g}", Text(f"{each.expr:{FEW_DIGITS}}"))
    return table
