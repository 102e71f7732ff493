"""Tasks of the SymPy process, which runs as `python -m edhie.expr.sympy_tasks`.

It reads one JSON object from each line of standard input, and writes one line for each. Nothing here needs a time
limit: the process is killed from outside, which stops SymPy wherever it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import sympy
from sympy.core.random import seed

from edhie.errors import EdhieError
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import FUNCTIONS, Symbol, operator, variable
from edhie.expr.sympy_bridge import constant_names, sympy_function, to_sympy
from edhie.expr.sympy_reader import from_sympy
from edhie.processes import serve

MAX_MEMORY = 4 * 2**30
Answer = dict[str, Any]


def request(task: str, exprs: list[Expr], **options: Any) -> dict[str, Any]:
    """Return the message to the worker for these expressions, all over one library."""
    library = exprs[0].library
    return {
        "task": task,
        "library": library.to_json(),
        "custom": [[symbol.name, symbol.arity] for symbol in library.symbols if symbol.is_custom],
        "exprs": [[list(expr.tokens), list(expr.constants)] for expr in exprs],
        **options,
    }


def expr_from(answer: Answer, library: SymbolLibrary) -> Expr:
    """Return the expression in a worker's answer, over `library` or, where that lacks a symbol, a larger one."""
    wider = library.with_numbers()
    return Expr(wider if answer["fits"] else _widest(wider), answer["tokens"])


def _widest(library: SymbolLibrary) -> SymbolLibrary:
    """Return the library extended by all built-in operators and literals whose names are free."""
    return library.extended(*(symbol for symbol in everything(0).symbols if symbol.kind != "constant"))


def _read_back(value: sympy.Expr, expr: Expr) -> Answer:
    """Return tokens for an answer, and the place in the expression of each fitted constant among them."""
    names = constant_names(expr.library, len(expr.constants))
    library = expr.library.with_numbers().extended(*(variable(name) for name in names))
    try:
        fits, found = True, from_sympy(value, library, constants=())
    except EdhieError:
        fits, found = False, from_sympy(value, _widest(library), constants=())
    places = [names.index(token) for token in found.tokens if token in names]
    tokens = [expr.library.constant if token in names else token for token in found.tokens]
    return {"fits": fits, "tokens": tokens, "constants": places}


def simplify(expr: Expr) -> Answer:
    """Simplify by SymPy's full simplification, which may take any time; the result is no longer than its input."""
    return _read_back(sympy.simplify(to_sympy(expr), ratio=1), expr)


def tidy(expr: Expr) -> Answer:
    """Simplify by SymPy's automatic evaluation and common factors, which takes milliseconds.

    An unfitted constant absorbs the numbers in its sum or product. On random expressions the results are as short as
    those of `simplify`, whose time varies by a factor of a hundred. No time limit is ever reached, so a corpus made
    with it is the same on any machine.
    """
    value = to_sympy(expr)
    value = min(value, sympy.factor_terms(value), key=sympy.count_ops)
    return _read_back(_absorbed(value, set(_symbols(expr))), expr)


def _absorbed(value: sympy.Expr, constants: set[sympy.Symbol]) -> sympy.Expr:
    if not value.args:
        return value
    operands = [_absorbed(operand, constants) for operand in value.args]
    if (value.is_Add or value.is_Mul) and not constants.isdisjoint(operands):
        operands = [operand for operand in operands if not operand.is_number]
    return value.func(*operands)


def prove_zero(left: Expr, right: Expr, *, constants: list[int]) -> Answer:
    """Try to prove that two expressions are equal; the second's k-th constant is the first's constants[k]-th.

    The caller knows that the difference vanishes, or is tiny, at many points.
    """
    ours, theirs = (
        [name for name, value in zip(_symbols(expr), expr.constants, strict=True) if value is None]
        for expr in (left, right)
    )
    matched = {theirs[i]: ours[j] for i, j in enumerate(constants)}
    difference = to_sympy(left, exact=True) - to_sympy(right, exact=True).subs(matched, simultaneous=True)
    for step in PROOFS:
        try:
            result = step(difference)
        except (ValueError, TypeError, AttributeError, NotImplementedError, RecursionError):
            continue  # another step may succeed
        if result == 0:
            return {"zero": True}
        if result.is_Rational and step in (sympy.expand, sympy.simplify):
            return {"zero": False, "difference": str(sympy.N(result, 5))}
    return {"zero": False}


def _symbols(expr: Expr) -> list[sympy.Symbol]:
    return [sympy.Symbol(name, real=True) for name in constant_names(expr.library, len(expr.constants))]


def _constant(difference: sympy.Expr) -> sympy.Expr:
    """Return the value of a difference that is constant and has a connected domain; otherwise itself."""
    if not _is_in_one_piece(difference):
        return difference
    symbols = difference.free_symbols
    if any(sympy.simplify(difference.diff(symbol)) != 0 for symbol in symbols):
        return difference
    for place in (0, HALF, 2, -HALF):
        value = sympy.simplify(difference.subs(dict.fromkeys(symbols, place)))
        if value.is_real:
            return value
    return difference


def _is_in_one_piece(value: sympy.Expr) -> bool:
    """Return True where the domain is known to be connected and the function continuous on it.

    The domain is an intersection of convex sets if every operand that is not allowed all
    values is known to have those that are, or is of first degree.
    """
    return all(_is_total(each) for each in sympy.preorder_traversal(value))


def _is_total(node: sympy.Expr) -> bool:
    if node.is_Atom or node.is_Add or node.is_Mul or isinstance(node, CONTINUOUS):
        return True
    operand = node.args[0]
    is_linear = all(operand.diff(symbol).is_number for symbol in operand.free_symbols)
    if node.is_Pow and node.exp.is_Integer:
        return bool(node.exp > 0 or operand.is_nonzero)
    if node.is_Pow and node.exp.is_Rational:
        return bool(operand.is_positive or (node.exp > 0 and operand.is_nonnegative) or is_linear)
    if isinstance(node, sympy.log):
        return bool(operand.is_positive or is_linear)
    return isinstance(node, (sympy.asin, sympy.acos)) and is_linear


HALF = sympy.Rational(1, 2)
CONTINUOUS = tuple(
    function
    for symbol in FUNCTIONS.values()
    if symbol.domain == "all" and isinstance(function := sympy_function(symbol), type)
)
# Logarithms may be split and joined (force=True): their operands are positive wherever the
# expression is defined over the reals.
PROOFS: tuple[Callable[[sympy.Expr], sympy.Expr], ...] = (
    sympy.expand,
    sympy.simplify,
    lambda d: sympy.expand(sympy.expand_trig(sympy.expand(d))),
    lambda d: sympy.simplify(sympy.expand_log(sympy.factor(d, deep=True), force=True)),
    lambda d: sympy.simplify(sympy.logcombine(sympy.expand(d), force=True)),
    lambda d: sympy.simplify(sympy.expand(d.rewrite(sympy.exp))),
    lambda d: sympy.simplify(d.rewrite(sympy.Piecewise)),
    _constant,
)


TASKS: dict[str, Callable[..., Answer]] = {"simplify": simplify, "tidy": tidy, "prove_zero": prove_zero}


@lru_cache(maxsize=16)
def _library(text: str, custom: tuple[tuple[str, int], ...]) -> SymbolLibrary:
    """Return the library of a request; user-defined operators are known by name and arity only."""
    operators: list[Symbol] = [operator(name, arity, numpy=_not_here) for name, arity in custom]
    return SymbolLibrary.from_json(text, operators=operators)


def _not_here(*operands: Any) -> Any:
    raise NotImplementedError("the SymPy process does not have the functions of user-defined operators")


def answer(message: dict[str, Any]) -> Answer:
    """Answer one request; an error becomes part of the answer."""
    try:
        library = _library(message.pop("library"), tuple((n, a) for n, a in message.pop("custom")))
        exprs = [Expr(library, tokens, constants) for tokens, constants in message.pop("exprs")]
        seed(0)  # SymPy draws random points inside, and the time it takes depends on them
        return TASKS[message.pop("task")](*exprs, **message)
    except Exception as error:  # SymPy raises whatever it likes; the caller must hear of it, not lose its worker
        return {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    except (ImportError, ValueError, OSError):
        pass  # not on this system: then only the time limit holds
    sys.setrecursionlimit(5000)
    print("ready", flush=True)
    serve(answer)
