"""All about one equation."""

from __future__ import annotations

from edhie.fit import Discovery, Equation
from edhie.plots.words import r2_text
from edhie.report.constants import constants_table
from edhie.report.fragments import Html, fill, joined
from edhie.report.mathematics import formula
from edhie.report.numbers import number
from edhie.report.picture import fit_picture


def equation_id(article: str, k: int) -> str:
    """Return the id of the equation at `k` within the page."""
    return f"{article}-e{k}"


def facts(equation: Equation) -> Html:
    """Return the quality and the complexity of an equation."""
    told: list[tuple[str, object]] = [("R²", r2_text(equation.r2))]
    if equation.validation is not None:
        told.append(("R² on held-out rows", r2_text(equation.r2_validation)))
    told += [("loss", number(equation.loss)), ("complexity", number(equation.complexity))]
    told += [("weight", equation.confidence)] if equation.confidence else []
    return joined(fill("fact", label=label, value=value) for label, value in told)


def hero(discovery: Discovery) -> Html:
    """Return the chosen equation in large type."""
    best = discovery.best
    notes = joined(fill("note", text=f"{note[0].upper()}{note[1:]}.") for note in discovery.notes)
    return fill("hero", formula=formula(best), facts=facts(best), notes=notes, constants=constants_table(best))


def equation_section(discovery: Discovery, k: int, article: str, *, has_picture: bool) -> Html:
    """Return the section of one equation: mathematics, texts to copy, constants and fit."""
    each, name, is_chosen = discovery.equations[k], equation_id(article, k), k == discovery.index
    texts = {"Text, all digits": each.text(None), "LaTeX": each.latex_equation()}
    copies = [
        fill("copy", id=f"{name}-text{n}", label=label, text=text) for n, (label, text) in enumerate(texts.items())
    ]
    unseen = fill("note", text=f"Not drawn, to keep this page small: edhie.plots.plot_fit(discovery, {k}) draws it.")
    return fill(
        "equation",
        id=name,
        kind=" selected" if is_chosen else "",
        complexity=number(each.complexity),
        mark=fill("mark") if is_chosen else "",
        formula=formula(each),
        facts=facts(each),
        copies=joined(copies),
        constants=constants_table(each),
        picture=fit_picture(discovery, k) if has_picture else unseen,
    )
