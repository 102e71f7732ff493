"""Expressions from SymPy, with the symbols of a library."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, reduce

import sympy

from edhie.errors import ExpressionError, SymbolError, shortened
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary, natural_order
from edhie.expr.numerals import numeral
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import FUNCTIONS, NAMED_LITERALS, Symbol
from edhie.expr.sympy_bridge import MAX_BITS, constant_stem, sympy_function

Prefix = list[str]

RECIPROCALS = {"sec": "cos", "csc": "sin", "cot": "tan", "sech": "cosh", "csch": "sinh", "coth": "tanh"}
THROUGH_LOG = ("asinh", "acosh", "atanh", "acoth", "asech", "acsch")
HALF = sympy.Rational(1, 2)
THIRD = sympy.Rational(1, 3)
MAX_INTEGER = 10**300  # beyond, a fraction is one number and not the quotient of two


def from_sympy(
    value: sympy.Expr,
    library: SymbolLibrary | None = None,
    *,
    constants: Collection[str] | None = None,
    as_written: bool = False,
) -> Expr:
    """Read a SymPy expression, over `library` or every known symbol.

    The symbols named in `constants` become the fitted constant; by default those that `to_sympy` makes (c0, c1, …, or
    as the library's constant is called) and c itself, unless a variable has the name. Sums and products become chains
    that lean to the left, in SymPy's printing order. With `as_written` the order of operands is kept and nothing is
    evaluated. The same is done for numbers such as 9^9^9, which SymPy would compute to find the order.

    >>> import sympy
    >>> str(from_sympy(sympy.sympify("x0**2/2 - exp(-x0)*sqrt(x1)")))
    'x0^2/2 - sqrt(x1)*exp(-x0)'
    """
    if isinstance(value, str):
        raise ExpressionError(f"{shortened(value)!r} is text: read it with parse(); SymPy would run it as code")
    try:
        value = sympy.sympify(value, strict=True)
    except sympy.SympifyError:
        raise ExpressionError(f"{shortened(repr(value))} is not a SymPy expression") from None
    if not isinstance(value, sympy.Expr):
        raise ExpressionError(f"{shortened(str(value))} is not an expression; its type is {type(value).__name__}")
    try:
        powers = value.atoms(sympy.Pow, sympy.exp)
        as_written = as_written or any(
            power.is_number and _magnitude(power.as_base_exp()[1]) > MAX_BITS for power in powers
        )
        names = {symbol.name for symbol in value.free_symbols}
        if library is None:
            library = everything(sorted(names - _constants_among(names, constants, None), key=natural_order))
        reader = _Reader(library, _constants_among(names, constants, library), as_written)
        with sympy.evaluate(not as_written):
            return Expr(library, reader.read(value))
    except RecursionError:
        raise ExpressionError("the SymPy expression is nested too deeply to be read") from None


def _constants_among(names: set[str], given: Collection[str] | None, library: SymbolLibrary | None) -> set[str]:
    if given is not None:
        return names & set(given)
    own = () if library is None or library.constant is None else (library.constant, constant_stem(library))
    stems = "|".join(re.escape(name) for name in ("c", *own))
    variables = () if library is None else library.variables
    return {name for name in names if re.fullmatch(rf"({stems})\d*", name) and name not in variables}


def _magnitude(value: sympy.Expr) -> float:
    """Return the approximate magnitude of a number, without evaluating it exactly."""
    if value.is_Number:
        return abs(float(value)) if abs(value) < MAX_INTEGER else math.inf
    parts = [_magnitude(part) for part in value.args]
    try:
        if value.is_Pow:
            return math.pow(max(parts[0], 1.0), parts[1])
        return math.exp(parts[0]) if isinstance(value, sympy.exp) else math.prod(parts) if value.is_Mul else sum(parts)
    except OverflowError:
        return math.inf


def _is_negative(value: sympy.Expr) -> bool:
    """Return True for an expression that is written with a minus sign in front."""
    return bool(value.as_coeff_Mul()[0].is_negative)


def _without_sign(value: sympy.Expr) -> sympy.Expr:
    factor, rest = value.as_coeff_Mul()
    if rest == 1:
        return -factor
    return rest if factor == -1 else sympy.Mul(-factor, rest, evaluate=False)


def _reciprocal(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
    """Return 1/base^exponent, for an exponent with a minus sign."""
    exponent = _without_sign(exponent)
    return base if exponent == 1 else sympy.Pow(base, exponent, evaluate=False)


def _is_denominator(factor: sympy.Expr) -> bool:
    """Return True for b^-n where b is not e."""
    return bool(factor.is_Pow and factor.base != sympy.E and _inverts(factor.base, factor.exp))


def _inverts(base: sympy.Expr, exponent: sympy.Expr) -> bool:
    """Return True where base^exponent is 1/base^n; 0^-x is not, as it has values where 1/0^x has none."""
    return _is_negative(exponent) and not (base == 0 and exponent.free_symbols)


@dataclass
class _Reader:
    """Turns SymPy nodes into prefix tokens; n-ary nodes become binary chains."""

    library: SymbolLibrary
    constants: set[str]
    """Names of the symbols that become the fitted constant."""
    as_written: bool

    def has(self, name: str) -> bool:
        """Return True where the library has this operator or literal, and not a variable of that name."""
        return name in self.library and self.library[name].kind in ("operator", "literal")

    def writes(self, number: int) -> bool:
        return self.library.has_numbers or self.has(str(number))

    @cached_property
    def own_functions(self) -> dict[object, Symbol]:
        """Operators that users added, by their SymPy functions."""
        return {symbol.sympy or symbol.name: symbol for symbol in self.library.symbols if symbol.is_custom}

    # -- nodes ------------------------------------------------------------------------

    def read(self, value: sympy.Expr) -> Prefix:
        if value.is_Symbol:
            return [self.symbol(value.name)]
        if value.is_Number or value.is_NumberSymbol:
            return self.number(value)
        if value.is_Add:
            return self.sum(value)
        if value.is_Mul:
            return self.product(value)
        if value.is_Pow:
            return self.power(value.base, value.exp)
        if isinstance(value, sympy.exp):
            return self.exponential(value.args[0])
        return self.function(value)

    def symbol(self, name: str) -> str:
        if name in self.constants:
            if self.library.constant is None:
                raise SymbolError(f"{name!r} is a constant to be fitted, and the library ({self.library}) has none")
            return self.library.constant
        if name not in self.library.variables:
            self.library.id_of(name)
            raise SymbolError(f"{name!r} is not a variable of the library ({self.library})")
        return name

    def number(self, value: sympy.Expr) -> Prefix:
        if value in (sympy.pi, sympy.E):
            name = "pi" if value == sympy.pi else "e"
            if self.has(name):
                return [name]
            if name == "e" and self.has("exp"):
                return ["exp", *self.number(sympy.Integer(1))]
            return [self.known(numeral(NAMED_LITERALS[name].value))]
        if self.splits(value):
            return ["/", *self.number(sympy.Integer(value.p)), *self.number(sympy.Integer(value.q))]
        if not value.is_finite:
            raise ExpressionError(f"a real expression cannot contain {value}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number) or (number == 0 and value != 0):
            size = "small" if number == 0 else "large"
            raise ExpressionError(f"the number {sympy.N(value, 5)} is too {size} for a double")
        return [self.known(numeral(number))]

    def splits(self, value: sympy.Expr) -> bool:
        """Return True for a number that is best written as a quotient of two."""
        is_fraction = value.is_Rational and not value.is_Integer
        return bool(is_fraction and max(abs(value.p), value.q) < MAX_INTEGER and self.has("/"))

    def known(self, token: str) -> str:
        if self.library[token].kind == "variable":
            raise SymbolError(f"{token!r} is a variable of the library ({self.library}), not the operator")
        return token

    def sum(self, value: sympy.Expr) -> Prefix:
        ordered = value.args if self.as_written else value.as_ordered_terms()
        terms = [(term, _is_negative(term)) for term in ordered]
        if not self.as_written:
            terms.sort(key=lambda pair: pair[1])  # a sum opens with a term that needs no sign, if it has one
        result: Prefix = []
        for term, is_negative in terms:
            if not result:
                result = self.read(term)
            elif is_negative and self.has("-"):
                result = ["-", *result, *self.read(_without_sign(term))]
            else:
                result = [self.known("+"), *result, *self.read(term)]
        return result

    def product(self, value: sympy.Expr) -> Prefix:
        factor, rest = value.as_coeff_Mul()
        factors = rest.args if self.as_written and rest.is_Mul else rest.as_ordered_factors()
        above, special = self.special_factors(list(factors))
        below = [self.read(_reciprocal(f.base, f.exp)) for f in above if _is_denominator(f)]
        numerator = special + [self.read(f) for f in above if not _is_denominator(f) and f != 1]
        if self.splits(factor):
            below.insert(0, self.number(sympy.Integer(factor.q)))
            factor = sympy.Integer(factor.p)
        if factor == -1 and numerator:
            numerator[0] = self.negated(numerator[0])
        elif factor != 1:
            numerator.insert(0, self.number(factor))
        if not numerator:
            return self.inverse(self.chain("*", below)) if below else self.number(factor)
        top = self.chain("*", numerator)
        if not below:
            return top
        divisor = self.chain("*", below)
        return ["/", *top, *divisor] if self.has("/") else [self.known("*"), *top, *self.inverse(divisor)]

    def negated(self, operand: Prefix) -> Prefix:
        if self.has("neg"):
            return ["neg", *operand]
        if self.has("-") and self.writes(0) and not (self.has("*") and self.writes(-1)):
            return ["-", "0", *operand]
        return [self.known("*"), self.known("-1"), *operand]

    def special_factors(self, factors: list[sympy.Expr]) -> tuple[list[sympy.Expr], list[Prefix]]:
        """Take out sign(a)·|a|^(1/3) as cbrt(a) and log(a)/log(10) as log10(a)."""
        special: list[Prefix] = []
        if self.has("cbrt"):
            for factor in factors[:]:
                if isinstance(factor, sympy.sign):
                    root = sympy.Pow(sympy.Abs(factor.args[0]), THIRD)
                    if root in factors:
                        factors.remove(factor)
                        factors.remove(root)
                        special.append(["cbrt", *self.read(factor.args[0])])
        per_log_10 = sympy.Pow(sympy.log(10), -1)
        if self.has("log10") and per_log_10 in factors:
            logarithm = next((f for f in factors if isinstance(f, sympy.log) and not f.is_number), None)
            if logarithm is not None:
                factors.remove(per_log_10)
                factors.remove(logarithm)
                special.append(["log10", *self.read(logarithm.args[0])])
        return factors, special

    def inverse(self, divisor: Prefix) -> Prefix:
        if self.has("/") and (self.writes(1) or not self.has("inv")):
            return ["/", *self.number(sympy.Integer(1)), *divisor]
        if self.has("inv"):
            return ["inv", *divisor]
        return [self.known("^"), *divisor, self.known("-1")]

    def power(self, base: sympy.Expr, exponent: sympy.Expr) -> Prefix:
        if base == sympy.E:
            return self.exponential(exponent)
        if _inverts(base, exponent) and (self.has("/") or self.has("inv")):
            return self.inverse(self.read(_reciprocal(base, exponent)))
        if exponent == HALF and self.has("sqrt"):
            return ["sqrt", *self.read(base)]
        if exponent.is_Integer and self.has(f"^{exponent}"):
            return [f"^{exponent}", *self.read(base)]
        if self.has("^"):
            return ["^", *self.read(base), *self.read(exponent)]
        if exponent.is_Integer and 1 < exponent <= 64:
            return self.integer_power(self.read(base), int(exponent))
        if exponent.is_Rational and exponent.q == 2 and self.has("sqrt"):
            return self.integer_power(["sqrt", *self.read(base)], int(exponent.p))
        if exponent == THIRD and self.has("cbrt"):
            return ["cbrt", *self.read(base)]
        raise SymbolError(f"the power {base}**({exponent}) cannot be written with the library ({self.library})")

    def integer_power(self, base: Prefix, exponent: int) -> Prefix:
        """Write a power as a product of the largest powers that the library has."""
        factors: list[Prefix] = []
        while exponent:
            step = next((n for n in (5, 4, 3, 2) if n <= exponent and self.has(f"^{n}")), 1)
            factors.append([f"^{step}", *base] if step > 1 else base)
            exponent -= step
        return self.chain("*", factors)

    def exponential(self, exponent: sympy.Expr) -> Prefix:
        if self.has("exp"):
            return ["exp", *self.read(exponent)]
        return [self.known("^"), *self.number(sympy.E), *self.read(exponent)]

    def function(self, value: sympy.Expr) -> Prefix:
        name = type(value).__name__
        own = self.own_functions.get(value.func) or self.own_functions.get(name)
        if own is not None:
            operands = value.args[: own.arity]  # SymPy may add some: Heaviside(x) is Heaviside(x, 1/2)
            if len(value.args) != own.arity and sympy_function(own)(*operands) != value:
                raise SymbolError(
                    f"{shortened(str(value))} has {len(value.args)} operands, {own.name!r} takes {own.arity}"
                )
            return [own.name, *(token for operand in operands for token in self.read(operand))]
        if name in RECIPROCALS:
            return self.inverse([self.known(RECIPROCALS[name]), *self.read(value.args[0])])
        if name in THROUGH_LOG:
            return self.read(value.rewrite(sympy.log))
        if name == "acot":
            return self.read(sympy.atan(1 / value.args[0]))
        if name == "log":
            return self.logarithm(*value.args)
        spelled = next((own for own, symbol in FUNCTIONS.items() if symbol.sympy == name), name)
        if not self.has(spelled) or not self.library[spelled].arity:
            raise SymbolError(f"SymPy's {name} in {shortened(str(value))} has no counterpart in the library")
        return self.chain(spelled, [self.read(operand) for operand in value.args])

    def logarithm(self, operand: sympy.Expr, base: sympy.Expr = sympy.E) -> Prefix:
        """Write a logarithm with the library's symbols; SymPy keeps the base where it does not evaluate."""
        if base == 10 and self.has("log10"):
            return ["log10", *self.read(operand)]
        if base != sympy.E:
            return self.read(sympy.Mul(sympy.log(operand), sympy.Pow(sympy.log(base), -1)))
        if not self.has("log") and self.has("log10"):
            return [self.known("*"), *self.number(sympy.Float(math.log(10))), "log10", *self.read(operand)]
        return [self.known("log"), *self.read(operand)]

    def chain(self, name: str, operands: list[Prefix]) -> Prefix:
        """Apply a function to one operand, or join several from the left."""
        if len(operands) == 1:
            return operands[0] if name in ("*", "min", "max") else [self.known(name), *operands[0]]
        return reduce(lambda left, right: [self.known(name), *left, *right], operands)
