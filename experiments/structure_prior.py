"""Compare models of the structure of formulas on fields that they have not seen, and write the tables that ship.

python experiments/structure_prior.py            # results/structure-prior.csv and .md
python experiments/structure_prior.py ship       # structure_prior.json, known_forms.json

One field of `edhie.corpora.formulas` is held out in turn; the models learn from the others and code its formulas. Each
formula is coded in eight versions, in which a random part of its variables are constants.
"""

from __future__ import annotations

import argparse
import csv
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import edhie.selection.prior
from edhie.corpora import Formulas, formulas
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.expr.standard_libraries import everything
from edhie.generators import load
from edhie.selection.prior import known_forms
from edhie.selection.prior.known_forms import KnownForms, by_frequency, with_variable
from edhie.selection.prior.structure_prior import SHIPPED, StructurePrior
from edhie.selection.prior.versions import VERSIONS
from formula_versions import versions
from structure_models import Model, grammar_model, hvae_model, over, shipped_model, symbol_model

RESULTS = Path(__file__).parent / "results"
FREQUENCIES = {"common": 4.0, "usual": 1.0, "rare": 0.25}
"""Formulas that each curve counts as."""
OF_PRODUCTS = {"common": 1.0, "usual": 0.25, "rare": 0.0}
"""The same for a curve times another variable; there, an offset is unusual."""
BENCHMARKS = ("feynman/", "textbook/")
"""Problems whose laws are left out of the whole forms that ship, so that benchmarks do not ask for what they know."""
SHIPPED_FILE = Path(edhie.selection.prior.__file__).with_name(SHIPPED)
TEXTBOOK = Path(__file__).with_name("textbook.toml")
COLUMNS = ("symbols", "model", "field", "formulas", "bits", "bits_per_symbol")
ALL, GENERAL = "all", "general"
"""Which symbols formulas are written with: all, or those of the shipped generators with constants for numbers."""
REMARKS = """
The bits of an autoencoder are an upper bound: importance-weighted, with 256 samples of a posterior that was fitted to
each formula in 150 steps from the encoder's on. Four times the steps and eight times the samples lower it by 0.7 bits
(128 formulas of physiology, the shipped model). The autoencoder trained further learnt from the other fields for 60
epochs, with the full weight of the divergence. A grammar's code has a share of 0.1 of the uniform code, for what it
does not derive. The model that ships does not code where among the operands of a sum or product a constant stands; the
models that go symbol by symbol do, at 1.4 bits a formula at most.
"""
COUNTED: dict[str, Model] = {
    "uniform": symbol_model(0),
    "symbol frequencies": symbol_model(1),
    "parent and child": symbol_model(2),
    "parent, grandparent and child": symbol_model(3),
    "whole sums and products (shipped)": shipped_model,
}
OTHERS: dict[str, Model] = {
    "universal grammar": grammar_model("universal"),
    "general grammar": grammar_model("general"),
    "HVAE general-1, bound": hvae_model(is_trained=False),
    "HVAE trained on the other fields, bound": hvae_model(is_trained=True),
}


def shipped_forms() -> KnownForms:
    """Return the whole forms that ship: formulas that no benchmark asks for, and curves, also times a variable."""
    library = everything(["x0", "x1"])
    counted = []
    for part, its in by_frequency().items():
        for name, ways in its.items():
            of_product = OF_PRODUCTS["usual" if name.endswith("offset") and part == "common" else part]
            texts = [with_variable(way, "x0") for way in ways]
            counted.append(([parse(text, library) for text in texts], FREQUENCIES[part]))
            if of_product:
                counted.append(([parse(f"x1*({text})", library) for text in texts], of_product))
    known = versions(formulas().without(problems=BENCHMARKS).forest)
    return KnownForms.learnt(known, counted, n_versions=VERSIONS)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the tables that ship, or run the missing part of the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("compare", "ship"), default="compare")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    if options.what == "ship":
        SHIPPED_FILE.write_text(StructurePrior.learnt([formulas().forest]).as_json(), encoding="utf-8")
        SHIPPED_FILE.with_name(known_forms.SHIPPED).write_text(shipped_forms().as_json(), encoding="utf-8")
        return
    compare(options.results / "structure-prior.csv")
    report(options.results / "structure-prior.csv")


def compare(path: Path) -> None:
    """Add the missing rows, field by field."""
    rows = list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []
    done = {(row["symbols"], row["model"], row["field"]) for row in rows}
    table = formulas()
    labels = np.repeat([row.field for row in table.rows], VERSIONS)
    known, coded = (versions(table.forest, VERSIONS, seed=seed) for seed in (0, 1))
    general = load("general-1").library
    for symbols, models in ((ALL, COUNTED), (GENERAL, {**COUNTED, **OTHERS})):
        sides = [(each, labels) for each in (known, coded)]
        if symbols == GENERAL:
            written = [over(each, general) for each in (known, coded)]
            sides = [(forest, labels[is_written]) for forest, is_written in written]
        for name, model in models.items():
            for field in table.fields:
                if (symbols, name, field) not in done:
                    rows.append({"symbols": symbols, "model": name, "field": field, **_measured(model, sides, field)})
                    _write(rows, path)


def _measured(model: Model, sides: list[tuple[Forest, np.ndarray]], field: str) -> dict[str, str]:
    """Return the bits of the formulas of a field by a model of the others."""
    (known, known_labels), (coded, labels) = sides
    began = time.perf_counter()
    learnt, held_out = known.take(known_labels != field), coded.take(labels == field)
    bits = model(learnt, np.full(len(learnt), 1 / VERSIONS), held_out)
    print(f"{field}: {bits.mean():.2f} bits, {time.perf_counter() - began:.0f} s", flush=True)
    return {
        "formulas": str(len(held_out) // VERSIONS),
        "bits": f"{bits.mean():.3f}",
        "bits_per_symbol": f"{bits.sum() / held_out.sizes.sum():.4f}",
    }


def _write(rows: list[dict[str, str]], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


# -- the report -----------------------------------------------------------------------------


def report(path: Path) -> None:
    """Write the tables of the results beside them."""
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    table = formulas()
    parts = [
        "# Code lengths of formulas of fields that a model has not seen\n",
        f"{len(table)} formulas in {len(table.fields)} fields, {VERSIONS} versions each, in which random variables are "
        "constants; one field is held out in turn. Bits a formula, without the choice of variables, which costs the "
        "same in all models. `python experiments/structure_prior.py` makes this page.\n",
    ]
    titles = {
        ALL: "All symbols; numbers are a class of their own",
        GENERAL: "Symbols of the shipped generators; numbers are constants",
    }
    for symbols, title in titles.items():
        parts += [f"## {title}\n", _block([row for row in rows if row["symbols"] == symbols], table.fields)]
    parts += [REMARKS, "## Laws that the problems of experiments ask for\n", _laws(table)]
    path.with_suffix(".md").write_text("\n".join(parts), encoding="utf-8")


def _block(rows: list[dict[str, str]], fields: Sequence[str]) -> str:
    models = list(dict.fromkeys(row["model"] for row in rows))
    by = {(row["model"], row["field"]): row for row in rows}
    lines = [f"| field | {' | '.join(models)} |", "|---|" + "---|" * len(models)]
    for field in fields:
        cells = [f"{float(by[model, field]['bits']):.1f}" if (model, field) in by else "" for model in models]
        lines.append(f"| {field} | {' | '.join(cells)} |")
    for title, key in (("**mean**", "bits"), ("bits a symbol", "bits_per_symbol")):
        means = [np.mean([float(row[key]) for row in rows if row["model"] == model]) for model in models]
        lines.append(f"| {title} | {' | '.join(f'{mean:.2f}' for mean in means)} |")
    return "\n".join(lines) + "\n"


def _laws(table: Formulas) -> str:
    """Return the bits of the problems' laws, with and without them in the table."""
    without = {"textbook laws": "textbook/", "Feynman laws": "feynman/", "both": ("textbook/", "feynman/")}
    priors = {"uniform": StructurePrior.uniform(), "shipped": StructurePrior.shipped()}
    priors |= {
        f"without {name}": StructurePrior.learnt([table.without(problems=ids).forest]) for name, ids in without.items()
    }
    lines = [
        "The twenty problems of `textbook.toml` and the Feynman benchmark ask for laws that are in the table. Bits of "
        "each law, the choice of variables included, under the shipped prior and under priors that were learnt without "
        "these laws and all formulas that differ from them only in names:\n",
        f"| problem | {' | '.join(priors)} |",
        "|---|" + "---|" * len(priors),
    ]
    cells = []
    for problem in tomllib.loads(TEXTBOOK.read_text(encoding="utf-8"))["problem"]:
        law = _law(problem["formula"], list(problem["variables"]))
        cells.append([float(prior.bits(law)[0]) for prior in priors.values()])
        lines.append(f"| {problem['id']} | {' | '.join(f'{each:.1f}' for each in cells[-1])} |")
    lines.append(f"| **mean of the textbook laws** | {' | '.join(f'{each:.1f}' for each in np.mean(cells, axis=0))} |")
    feynman = [row for row in table.rows if any(each.startswith("feynman/") for each in row.problems)]
    laws = [_law(row.text, list(parse(row.text).variables)) for row in feynman]
    means = [np.mean([prior.bits(law)[0] for law in laws]) for prior in priors.values()]
    lines.append(f"| **mean of the Feynman laws** | {' | '.join(f'{each:.1f}' for each in means)} |")
    return "\n".join(lines) + "\n"


def _law(text: str, variables: list[str]) -> Forest:
    """Return a formula with constants for its numbers, over the operators of the shipped generators."""
    operators = [symbol.name for symbol in load("general-1").library.symbols if symbol.kind == "operator"]
    expr = parse(text, variables=variables).numbers_to_constants().free()
    used = [token for token in expr.tokens if expr.library[token].kind == "operator"]
    library = SymbolLibrary.of(dict.fromkeys([*operators, *used]), variables, constant="constant_")
    return Forest.from_exprs([expr.cast(library)], library)


if __name__ == "__main__":
    main()
