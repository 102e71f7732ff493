"""How fast expressions are drawn, brought to canonical form, told apart, read and imported; one core.

python perf/expr.py [--quick]
"""

from __future__ import annotations

import subprocess
import sys
import warnings

from report import Report, arguments, best_of, hold_one_core

hold_one_core()

import numpy as np  # noqa: E402 -- after the limits on threads

from edhie.expr import Forest, parse  # noqa: E402
from edhie.expr.canonical import canonical  # noqa: E402
from edhie.expr.distance import edit_distances, tree_distances  # noqa: E402
from edhie.expr.sympy_pool import SympyWorker  # noqa: E402
from edhie.expr.sympy_tasks import request  # noqa: E402
from edhie.grammar import load  # noqa: E402

MILLION = 1_000_000
SYMPY_LIMIT = 2.0
IMPORT = "import time; t = time.perf_counter(); import edhie; print(time.perf_counter() - t)"


def measure_drawing(report: Report, quick: bool) -> Forest:
    grammar = load("nguyen-1")
    grammar.sample(10, np.random.default_rng(0), max_size=256)  # compiles
    seconds, forest = best_of(3, lambda: grammar.sample(MILLION, np.random.default_rng(1), max_size=256))
    report.row("draw from the Nguyen grammar", f"{MILLION / seconds:,.0f}/s", f"mean size {forest.sizes.mean():.1f}")
    report.figure("pcfg_per_s", MILLION / seconds)
    wanted = 1000 if quick else 5000

    def distinct() -> Forest:
        return grammar.sample(8 * wanted, np.random.default_rng(2), max_size=50).unique()

    seconds, found = best_of(5, distinct)
    own = len(found) / seconds
    remark = f"{len(found):,} among {8 * wanted:,} draws, mean size {found.sizes.mean():.1f}"
    report.row("… distinct ones, ≤ 50 nodes", f"{own:,.0f}/s", remark)
    peer = measure_srtoolkit(wanted)
    if peer is None:
        report.row("… by symbolic-regression-toolkit", "not measured", "not installed (extra: peers)")
    else:
        report.row(
            "… by symbolic-regression-toolkit", f"{peer:,.0f}/s", f"{wanted:,} distinct; edhie {own / peer:,.0f}×"
        )
    report.figure("pcfg_ratio_srtoolkit", None if peer is None else own / peer)
    return forest


def measure_srtoolkit(wanted: int) -> float | None:
    """Distinct expressions a second by the peer, from a grammar of the same symbols."""
    try:
        from SRToolkit.utils import SymbolLibrary, generate_n_expressions
    except ImportError:
        return None
    symbols = ["+", "-", "*", "/", "sin", "cos", "exp", "ln", "sqrt", "^2", "^3", "^4", "^5"]
    library = SymbolLibrary.from_symbol_list(symbols, num_variables=1)
    np.random.seed(0)  # noqa: NPY002 -- the peer draws from NumPy's global generator
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, found = best_of(1, lambda: generate_n_expressions(library, wanted, unique=True, verbose=False))
    return len(found) / seconds


def measure_forest(report: Report, million: Forest) -> None:
    size = (million.tokens.nbytes + million.offsets.nbytes + million.values.nbytes) / 1e6
    million[:10].unique()  # compiles
    seconds, unique = best_of(3, million.unique)
    report.row("a million expressions in memory", f"{size:,.0f} MB", f"{len(million.tokens):,} nodes")
    report.row("… unique()", f"{seconds:.3f} s", f"{len(unique):,} distinct")
    report.figure("million_mb", size)
    report.figure("unique_million_s", seconds)


def measure_canonical(report: Report, million: Forest) -> None:
    distinct = million.unique()
    canonical(distinct[:10])  # compiles
    seconds, forms = best_of(3, lambda: canonical(distinct))
    rate = len(distinct) / seconds
    remark = f"{len(distinct):,} distinct, mean size {distinct.sizes.mean():.1f}, become {len(forms.unique()):,}"
    report.row("canonical form, Nguyen", f"{rate:,.0f}/s", remark)
    report.figure("canonical_per_s", rate)
    feynman = load("feynman-2").sample(100_000, np.random.default_rng(3), max_size=256).unique()
    seconds, forms = best_of(3, lambda: canonical(feynman))
    remark = f"{len(feynman):,} distinct, mean size {feynman.sizes.mean():.1f}, become {len(forms.unique()):,}"
    report.row("canonical form, Feynman with constants", f"{len(feynman) / seconds:,.0f}/s", remark)


def measure_sympy(report: Report, million: Forest, quick: bool) -> None:
    sample = million.unique()[1000 : 1000 + (30 if quick else 100)].to_exprs()
    worker = SympyWorker()
    worker.ask(request("simplify", sample[:1]), SYMPY_LIMIT)  # starts it
    seconds, answers = best_of(1, lambda: [worker.ask(request("simplify", [expr]), SYMPY_LIMIT) for expr in sample])
    worker.close()
    stopped = sum("timed_out" in answer for answer in answers)
    remark = f"{len(sample)} of them, {stopped} stopped after {SYMPY_LIMIT:g} s"
    report.row("… SymPy's simplify on such", f"{len(sample) / seconds:,.1f}/s", remark)


def measure_text_and_distances(report: Report, million: Forest) -> None:
    exprs = million.unique()[:20_000].to_exprs()
    texts = [str(expr) for expr in exprs]
    library = million.library
    seconds, _ = best_of(2, lambda: [parse(text, library) for text in texts])
    report.row("parse infix", f"{len(texts) / seconds:,.0f}/s", "")
    a = Forest.from_exprs(exprs[:10_000])
    b = Forest.from_exprs(exprs[10_000:])
    for name, distances in (("edit distance", edit_distances), ("tree distance", tree_distances)):
        distances(a[:10], b[:10])  # compiles
        seconds, _ = best_of(3, lambda distances=distances: distances(a, b))
        report.row(name, f"{len(a) / seconds:,.0f} pairs/s", "")


def measure_import(report: Report) -> None:
    times = [float(subprocess.check_output([sys.executable, "-c", IMPORT])) for _ in range(5)]
    report.row("import edhie", f"{min(times):.3f} s", "best of 5 new processes")
    report.figure("import_s", min(times))


def main() -> None:
    quick = arguments(__doc__ or "").quick
    report = Report("expressions, one core")
    million = measure_drawing(report, quick)
    measure_forest(report, million)
    measure_canonical(report, million)
    measure_sympy(report, million, quick)
    measure_text_and_distances(report, million)
    measure_import(report)
    report.close()


if __name__ == "__main__":
    main()
