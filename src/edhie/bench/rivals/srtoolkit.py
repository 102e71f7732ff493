"""EDHiE and ProGED of symbolic-regression-toolkit, through its public functions."""

from __future__ import annotations

import importlib
import math
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from edhie.bench.rivals import Answer, Question, from_prefix
from edhie.storage import digest

NAMES = {"log": "ln", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "neg": "u-"}
"""Its names of symbols, where they differ from ours."""
FORMS = (
    {name: f"({{}} {name} {{}})" for name in "+-*/^"}
    | {f"^{k}": f"({{}})^{k}" for k in (2, 3, 4, 5)}
    | {"u-": "(-{})", "^-1": "(1 / {})", "log": "(log({}) / log(10))"}
    | {name: f"{name}({{}})" for name in ("sin", "cos", "exp", "sqrt", "tan", "sinh", "cosh", "tanh", "floor", "ceil")}
    | {theirs: f"{own}({{}})" for own, theirs in NAMES.items() if own != "neg"}
)
"""Its symbols as formulas."""
CONSTANT = "C"
EXPRESSIONS, EPOCHS = 5000, 15
"""Training of its autoencoder: about a fifth of its default effort, which is 20,000 and 20."""


def prepare_edhie(question: Question) -> None:
    """Train the autoencoder for these symbols, once; it is kept in the user's cache."""
    from SRToolkit.approaches import EDHiE

    path = _model_path(question)
    if path.is_file():
        return
    seed_everything(0)
    approach = EDHiE(num_expressions=EXPRESSIONS, epochs=EPOCHS, verbose=False)
    approach.adapt(question.X, library_of(question))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished.pt")
    approach.save_adapted_state(str(unfinished))
    unfinished.replace(path)


def prepare_proged(question: Question) -> None:
    """Import the package."""
    import SRToolkit.approaches  # noqa: F401


def edhie(question: Question) -> Answer:
    """Return the best formula of its evolution in the latent space."""
    from SRToolkit.approaches import EDHiE

    approach = EDHiE(verbose=False)
    approach.load_adapted_state(str(_model_path(question)))
    return _searched(approach, question)


def proged(question: Question) -> Answer:
    """Return the best formula that it samples from a grammar of the symbols."""
    from SRToolkit.approaches import ProGED

    approach = ProGED()
    approach.adapt(question.X, library_of(question))
    return _searched(approach, question)


def formula(tokens: Sequence[str], parameters: Sequence[float], library: Any) -> str:
    """Return an expression of the toolkit as a formula over x0, x1, …, with the values of its constants."""
    utils = importlib.import_module("SRToolkit.utils")
    values = iter(parameters)
    prefix = utils.tokens_to_tree(list(tokens), library).to_list(library, notation="prefix")
    return from_prefix([_form(token, next(values)) if token == CONSTANT else _form(token) for token in prefix])


def _form(token: str, value: float | None = None) -> str:
    if value is not None:
        return f"({float(value)!r})"
    return FORMS.get(token, token.replace("X_", "x"))


def _searched(approach: Any, question: Question) -> Answer:
    from SRToolkit.evaluation.callbacks import SRCallbacks
    from SRToolkit.evaluation.sr_evaluator import SR_evaluator

    budget, library = question.budget, library_of(question)
    deadline = time.perf_counter() + (math.inf if budget.seconds is None else budget.seconds)

    class Clock(SRCallbacks):  # type: ignore[misc]
        def on_expr_evaluated(self, event: Any) -> bool:
            return time.perf_counter() < deadline

    evaluator = SR_evaluator(
        question.X,
        question.y,
        symbol_library=library,
        max_evaluations=budget.evaluations or -1,
        success_threshold=-1 if budget.target_error is None else budget.target_error,
        seed=question.seed,
    )
    evaluator.register_callbacks(Clock())
    seed_everything(question.seed)
    approach.prepare()
    approach.search(evaluator, seed=question.seed)
    found = evaluator.get_results(top_k=1)[0]
    best = found.top_models[0]
    return formula(best.expr, [] if best.parameters is None else best.parameters, library), found.num_evaluated


def library_of(question: Question) -> Any:
    """Return the toolkit's library of the symbols that it knows."""
    utils = importlib.import_module("SRToolkit.utils")
    symbols = [NAMES.get(symbol, symbol) for symbol in question.symbols]
    constants = [CONSTANT] if question.has_constants else []
    return utils.SymbolLibrary.from_symbol_list([*symbols, *constants], num_variables=len(question.names))


def _model_path(question: Question) -> Path:
    what = f"{question.symbols} {question.has_constants} {len(question.names)} {EXPRESSIONS} {EPOCHS}"
    return Path(platformdirs.user_cache_dir("edhie")) / "models" / f"srtoolkit-{digest(what)[:12]}.pt"


def seed_everything(seed: int) -> None:
    """Seed the global generators, from which the toolkit draws."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
