"""The front: a drawing and a table that lead to each equation."""

from __future__ import annotations

from edhie.fit import Discovery
from edhie.plots.words import r2_text, right_side
from edhie.report.chart import front_chart
from edhie.report.equation import equation_id, equation_section
from edhie.report.fragments import Html, fill, joined
from edhie.report.numbers import number
from edhie.report.picture import pictured

WIDTH = 64  # letters of an equation in the table


def front_section(discovery: Discovery, article: str) -> Html:
    """Return the table of all equations."""
    with_picture = pictured(discovery)
    count = range(len(discovery.equations))
    losses = [each.loss for each in discovery.equations]  # from the least complex on
    is_beside = any(losses[k] >= min(losses[:k]) for k in count if k)
    return fill(
        "front",
        id=article,
        target=discovery.target,
        also=", or one that is likely" if is_beside else "",
        held_out="" if discovery.validation is None else fill("front-held-out"),
        weights=fill("front-weights") if _has_weights(discovery) else "",
        chart=front_chart(discovery, article),
        rows=joined(_row(discovery, k, article) for k in count),
        equations=joined(equation_section(discovery, k, article, has_picture=k in with_picture) for k in count),
    )


def _has_weights(discovery: Discovery) -> bool:
    return any(each.confidence for each in discovery.equations)


def _row(discovery: Discovery, k: int, article: str) -> Html:
    each, is_chosen = discovery.equations[k], k == discovery.index
    numbers: list[object] = [number(each.loss), r2_text(each.r2)]
    if discovery.validation is not None:
        numbers.append(r2_text(each.r2_validation))
    numbers += [each.confidence] * _has_weights(discovery)
    return fill(
        "front-row",
        id=equation_id(article, k),
        current=fill("current") if is_chosen else "",
        complexity=number(each.complexity),
        numbers=joined(fill("front-number", value=value) for value in numbers),
        equation=right_side(each, WIDTH),
        mark=fill("mark") if is_chosen else "",
    )
