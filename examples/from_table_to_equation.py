"""From a table to an equation, in depth: 22 lines of hydrogen, and what a scientist does with the equations found.

The front, the equation that it points to, what this leaves over, a table that is mended, the constant with its standard
error, predictions for lines that are not in the table, and the equation as LaTeX and as code.
`python examples/from_table_to_equation.py`
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from edhie import EDHiERegressor
from edhie.expr.exports import export
from edhie.fit import Equation
from edhie.plots import save

DATA = Path(__file__).parent / "data" / "hydrogen.csv"
SERIES = {1: "Lyman", 2: "Balmer", 3: "Paschen", 4: "Brackett"}
NEW = pd.DataFrame({"lower": [2, 3, 5], "upper": [10, 9, 6]})  # not in the table; of the series of 5 there is no line
SEEN = [379.79, 922.90, 7457.8]  # nm, in air
AIR, SHORTEST_IN_AIR = 1.00027, 200.0  # refraction of air; tables give shorter wavelengths in vacuum, in nm


def discovered(lines: pd.DataFrame) -> EDHiERegressor:
    """Search with plain arithmetic and squares; a budget of expressions gives the same result on every machine."""
    model = EDHiERegressor(
        max_time=None, max_evaluations=1_000, operators=["+", "-", "*", "/", "^2"], random_state=0
    )  # fmt: skip
    return model.fit(lines[["lower", "upper"]], lines["wavelength"])


def tell_front(model: EDHiERegressor) -> Equation:
    """Each equation is the best of its size: the one to look at is where the loss falls off a cliff."""
    table = model.equations_[["complexity", "loss", "weight", "equation"]]
    formats = {"loss": "{:.4g}".format, "weight": "{:.2f}".format}
    print("The best trade-offs between size and error (RMSE in nm):\n")
    print(table.to_string(index=False, formatters=formats))
    cliff = table["loss"].shift() / table["loss"]
    law = model.discoveries_[0].equations[cliff.idxmax()]
    print(f"\nThe error falls most, by a factor of {cliff.max():.0f}, at {law.complexity:g} nodes: {law}")
    print(f"The shortest description of the data is {model.best_}\n")
    return law


def left_over(lines: pd.DataFrame, law: Equation) -> pd.Series:
    """Return measured over predicted wavelengths, less 1."""
    return lines["wavelength"] / law.predict(lines[["lower", "upper"]].to_numpy(float).T) - 1


def tell_residuals(lines: pd.DataFrame, left: pd.Series) -> None:
    """What an equation leaves is where the next discovery is: here it is the air."""
    in_vacuum = lines["lower"] == 1
    print(f"The first leaves, in millionths: {1e6 * left[in_vacuum].mean():+.0f} on average for the Lyman lines, and")
    print(f"{1e6 * left[~in_vacuum].mean():+.0f} for all others. The second has a constant more, which matters to the")
    print("Lyman lines alone. Tables give lines below 200 nm in vacuum, others in air, which slows light down by some")
    print("270 millionths: the law is right, and the table mixes two wavelengths. In vacuum throughout:\n")


def in_vacuum(lines: pd.DataFrame) -> pd.DataFrame:
    """Return the lines with all wavelengths as they are in vacuum."""
    is_in_air = lines["wavelength"] > SHORTEST_IN_AIR
    return lines.assign(wavelength=lines["wavelength"].where(~is_in_air, AIR * lines["wavelength"]))


def tell_constants(model: EDHiERegressor) -> None:
    """How well the data determine the constant of the law."""
    best = model.best_
    known = zip(best.uncertainty.values, best.uncertainty.standard_errors, strict=True)
    print(f"{best}, with a weight of {best.confidence}")
    print("Its constants: " + ", ".join(f"{value:.5f} ± {error:.1g}" for value, error in known))
    limit = float(model.predict(pd.DataFrame({"lower": [1], "upper": [10**6]}))[0])
    print(f"From level 1 to infinity it is {limit:.2f} nm: Rydberg's constant is {1e9 / limit:,.0f} per metre.\n")


def tell_predictions(model: EDHiERegressor) -> None:
    """Predictions for new rows, in air; their deviations are what the uncertainty of the constants makes of them."""
    predicted, deviations = model.predict(NEW, return_std=True)
    for (lower, upper), value, deviation, seen in zip(NEW.to_numpy(), predicted, deviations, SEEN, strict=True):
        told = f"{value / AIR:.2f} ± {deviation / AIR:.3f} nm"
        print(f"From {upper} to {lower}, not in the table: {told}; measured: {seen:.2f} nm")


def picture(model: EDHiERegressor, law: Equation, lines: pd.DataFrame, left: pd.Series) -> Figure:
    """The front, and what the law leaves."""
    figure = Figure(figsize=(9, 3.8), layout="constrained", dpi=150)
    front, rest = figure.subplots(1, 2)
    table = model.equations_
    front.semilogy(table["complexity"], table["loss"], "o-", color="#6b6b6b", ms=4, lw=1)
    front.semilogy(law.complexity, law.loss, "o", color="#d1662b", ms=8)
    front.set_title(law.text(5), color="#d1662b", fontsize=8, loc="left")
    front.set(xlabel="nodes", ylabel="error, nm")
    for (lower, name), marker in zip(SERIES.items(), "os^D", strict=True):
        own = lines["lower"] == lower
        rest.semilogx(lines["wavelength"][own], 1e6 * left[own], marker, label=name)
    rest.axhline(0, color="#c8c8c8", lw=1, zorder=0)
    rest.axvline(SHORTEST_IN_AIR, color="#c8c8c8", lw=1, ls="--", zorder=0)
    rest.text(190, 120, "in vacuum", ha="right", color="#6b6b6b", fontsize=8)
    rest.text(215, 120, "in air", ha="left", color="#6b6b6b", fontsize=8)
    rest.set_title("what it leaves: measured against predicted", fontsize=8, loc="left")
    rest.set(xlabel="wavelength, nm", ylabel="millionths")
    rest.legend(frameon=False, fontsize=8)
    for panel in (front, rest):
        panel.spines[["top", "right"]].set_visible(False)
    return figure


def main() -> None:
    """All of it, in this order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave out the report")
    parser.add_argument("--out", type=Path, default=Path("out/examples/from_table_to_equation"), help="a folder")
    options = parser.parse_args()
    lines = pd.read_csv(DATA)
    first = discovered(lines)
    law = tell_front(first)
    left = left_over(lines, law)
    tell_residuals(lines, left)
    model = discovered(in_vacuum(lines))
    tell_constants(model)
    tell_predictions(model)
    print(f"\nIn LaTeX: {model.latex()}\nAs Python:\n\n{export(model.best_.expr, 'python', name='wavelength')}")
    drawn = picture(first, law, lines, left)
    made = [save(drawn, options.out / "hydrogen.png"), model.save(options.out / "model")]
    if not options.quick:
        made.append(model.report(options.out / "report.html"))
    print("Written: " + ", ".join(map(str, made)))


if __name__ == "__main__":
    main()
