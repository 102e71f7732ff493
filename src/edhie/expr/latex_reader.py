"""Parser for LaTeX formulas.

Written by hand, because SymPy's parser takes 3 ms for each term and minutes for some texts that are no formulas, and
executes the digits of numbers as Python code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from edhie.errors import ParseError, SymbolError, shortened, suggestion
from edhie.expr.expression import Expr
from edhie.expr.lexer import CLOSE_BAR, FOLDED, OPEN_BAR, Token, TokenReader, key, tokenise_latex
from edhie.expr.library import SymbolLibrary, natural_order
from edhie.expr.notation import postfix_to_prefix
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import NAMED_LITERALS, NUMBER, OPERATORS, is_name, latex_name

PRODUCTS = {"*": "*", "/": "/", ":": "/"}
CLOSING = {"(": ")", "{": "}", "[": "]", r"\{": r"\}"}
BARS = {"|": "|", OPEN_BAR: CLOSE_BAR}
RELATIONS = ("=", "<", ">")
STARTS = ("number", "name", "function", "fraction", "root")
INVERSES = {"sin": "asin", "cos": "acos", "tan": "atan"}
MAX_DEPTH = 80  # of brackets; each takes some frames of Python's stack


def from_latex(text: str, library: SymbolLibrary | None = None) -> Expr:
    r"""Read an expression from LaTeX mathematics, over `library` or every known symbol.

    Names are matched to the library's variables as LaTeX writes them; without a library
    `x_{0}` is read as x0 and `\theta_{max}` as theta_max. A lone `c` is the fitted
    constant, `e` and `\pi` the numbers, `\log` and `\ln` the natural logarithm. The operand of a function without
    parentheses ends before the next operator or function: `\sin 2 x \cdot y` is sin(2*x)*y.

    >>> str(from_latex(r"\frac{\theta_{max}^2}{2} + \sin x_0"))
    'theta_max^2/2 + sin(x0)'
    """
    tokens = tokenise_latex(text, library)
    parser = _Parser(text, tokens, library)
    try:
        postfix = parser.whole()
    except RecursionError:  # where the caller's own stack is deep
        raise ParseError("nested too deeply", text, 0) from None
    if library is None:
        names = [token for token in dict.fromkeys(postfix) if token in parser.names]
        base = everything(sorted(names, key=natural_order))
    else:
        base = library.extended(*OPERATORS.values(), *NAMED_LITERALS.values(), NUMBER)
    try:
        return _over(library or base, Expr(base, postfix_to_prefix(postfix, lambda token: base[token].arity)))
    except (SymbolError, IndexError) as error:
        raise ParseError(str(error), text, 0) from error


def _over(library: SymbolLibrary, expr: Expr) -> Expr:
    """Return the expression over a library, rewritten if the library lacks some of its symbols."""
    try:
        return expr.cast(library)
    except SymbolError:
        from edhie.expr.sympy_bridge import to_sympy
        from edhie.expr.sympy_reader import from_sympy

        return from_sympy(to_sympy(expr, evaluate=False), library, as_written=True)


class _Parser(TokenReader):
    """Reads the tokens by recursive descent and writes them in postfix order, each operator after its operands."""

    def __init__(self, text: str, tokens: list[Token], library: SymbolLibrary | None) -> None:
        super().__init__(text, tokens)
        self.library = library
        variables = library.variables if library else ()
        self.known = {key(latex_name(name)): name for name in variables}
        self.constant = library.constant if library else "c"
        self.names: set[str] = set()
        """Names of variables that were read, where there is no library."""
        self.bars = 0
        self.opened: list[Token] = []
        self.out: list[str] = []

    def unexpected(self) -> ParseError:
        token = self.next
        if token.text in RELATIONS:
            return self.error("not an expression but a relation")
        if token.text in (*CLOSING.values(), CLOSE_BAR):
            return self.error(f"this {token.text.removeprefix('close ')!r} closes nothing")
        if token.text == ",":
            return self.error("a comma belongs between the operands of a function")
        return self.error(f"{shortened(token.text, 40)!r} is not readable here")

    def missing(self) -> ParseError:
        if self.next.kind == "end":
            return self.unclosed() if self.opened else self.error("the formula ends where an operand should be")
        return self.error(f"an operand is missing before {self.next.text[-1]!r}")

    def unclosed(self) -> ParseError:
        opening = self.opened[-1]
        return self.error(f"this {opening.text.removeprefix('open ')!r} is never closed", opening)

    def whole(self) -> list[str]:
        if self.next.kind == "end":
            raise ParseError("a formula is missing", self.text, 0)
        self.sum()
        if self.next.kind != "end":
            raise self.unexpected()
        return self.out

    # -- sums, products and powers ----------------------------------------------------

    def sum(self) -> None:
        self.product()
        while self.next.text in ("+", "-"):
            sign = self.take().text
            self.product()
            self.out.append(sign)

    def product(self) -> None:
        self.factors()
        while self.next.text in PRODUCTS:
            sign = PRODUCTS[self.take().text]
            self.factors()
            self.out.append(sign)

    def factors(self, *, in_operand: bool = False) -> None:
        """Read factors without a sign between them; the operand of a function ends before another function."""
        is_negative = False
        while self.next.text in ("+", "-"):
            is_negative ^= self.take().text == "-"
        if is_negative and self.next.kind == "number" and self.tokens[self.at + 1].text != "^":
            self.number(self.take(), "-")
            is_negative = False
        else:
            self.power()
        while self.starts_operand() and not (in_operand and self.next.kind == "function"):
            if self.next.kind == "number" and self.tokens[self.at - 1].kind == "number":
                raise self.error("an operator is missing between two numbers")
            self.power()
            self.out.append("*")
        if is_negative:
            self.out.append("neg")

    def starts_operand(self) -> bool:
        token = self.next
        if token.kind in STARTS or token.text in CLOSING or token.text == OPEN_BAR:
            return True
        return token.text == "|" and not self.bars

    def power(self) -> None:
        is_e = self.next.kind == "name" and self.next.text == "e" and "e" not in self.known
        start = len(self.out)
        self.operand()
        if self.next.text == "_":
            raise self.error("a subscript belongs to a name")
        if self.next.text != "^":
            return
        exponent = self.exponent()
        if self.next.text == "^":
            raise self.error("a second exponent; put the first power in braces")
        if is_e:
            self.out[start:] = [*exponent, "exp"]
        else:
            self.raised(exponent)

    def exponent(self) -> list[str]:
        """Read `^` or `_` and its operand; return the operand in postfix order."""
        self.take()
        outer, self.out = self.out, []
        self.operand()
        outer, self.out = self.out, outer
        return outer

    def raised(self, exponent: list[str]) -> None:
        short = f"^{exponent[0]}"
        if len(exponent) == 1 and short in OPERATORS and (self.library is None or short in self.library):
            self.out.append(short)
        else:
            self.out += [*exponent, "^"]

    # -- operands ---------------------------------------------------------------------

    def operand(self) -> None:
        token = self.next
        if token.kind in STARTS:
            self.take()
            getattr(self, token.kind)(token)
        elif token.text in CLOSING:
            self.group()
        elif token.text in BARS:
            with self.inside(BARS[token.text]):
                self.bars = int(token.text == "|")
                self.sum()
            self.out.append("abs")
        else:
            raise self.missing()

    def group(self, function: str = "") -> int:
        """Read brackets around an operand, or around all those of a function; return their number."""
        count = 1
        with self.inside(CLOSING[self.next.text]):
            self.sum()
            while self.next.text == "," and function:
                if function in FOLDED and count > 1:
                    self.out.append(function)
                self.take()
                self.sum()
                count += 1
        return count

    @contextmanager
    def inside(self, closing: str) -> Iterator[None]:
        """Take an opening bracket before the block and the closing one after it."""
        opening, outer = self.take(), self.bars
        self.opened.append(opening)
        if len(self.opened) > MAX_DEPTH:
            raise self.error(f"nested too deeply: at most {MAX_DEPTH} brackets are read", opening)
        self.bars = 0
        yield
        self.bars = outer
        if self.next.text != closing:
            raise self.unclosed() if self.next.kind == "end" else self.unexpected()
        self.opened.pop()
        self.take()

    def number(self, token: Token, sign: str = "") -> None:
        self.finite(token)
        self.out.append(sign + token.text)

    def name(self, token: Token) -> None:
        name = self.known.get(token.text)
        literal = token.text.removeprefix("\\")
        if literal in NAMED_LITERALS and (name is None or token.text != literal):
            self.out.append(literal)
            return
        head, _, tail = token.text.partition("_")
        name = name or (head + tail if len(head) == 1 and tail.isdecimal() else token.text)  # x0 for x_0
        if not is_name(name):
            raise self.error(f"{shortened(name)!r} is not a name", token)
        if name != self.constant:
            if self.library is not None and name not in self.library.variables:
                hint = suggestion(name, self.library.variables)
                raise self.error(f"unknown symbol {shortened(name)!r}{hint}", token)
            self.names.add(name)
        self.out.append(name)

    def fraction(self, token: Token) -> None:
        for _ in range(2):
            self.argument()
        self.out.append("/")

    def argument(self) -> None:
        r"""Read an argument of a command: a group in braces, a letter, or one digit, as in `\frac12`."""
        token = self.next
        if token.kind == "number" and len(token.text) > 1 and token.text.isdecimal():
            self.tokens[self.at] = Token("number", token.text[1:], token.position + 1)
            self.number(Token("number", token.text[0], token.position))
        else:
            self.operand()

    def root(self, token: Token) -> None:
        degree: Sequence[str] = ["2"]
        if self.next.text == "[":
            start = len(self.out)
            self.group()
            degree = self.out[start:]
            del self.out[start:]
        self.argument()
        short = {"2": "sqrt", "3": "cbrt"}.get(degree[0]) if len(degree) == 1 else None
        self.out += [short] if short else ["1", *degree, "/", "^"]

    def function(self, token: Token) -> None:
        base: list[str] = []
        exponent: list[str] = []
        if self.next.text == "_" and token.text == "log":
            base = self.exponent()
        if self.next.text == "^":
            exponent = self.exponent()
        if self.next.text in CLOSING:
            count = self.group(token.text)
        else:
            self.factors(in_operand=True)
            count = 1
        name = token.text
        if exponent == ["-1"]:
            if name not in INVERSES:
                raise self.error(f"{name}^-1 can mean 1/{name} or the inverse function; write one of them", token)
            name, exponent = INVERSES[name], []
        known = self.library if self.library and name in self.library else OPERATORS
        self.check_operands(known[name], count, token)
        self.out.append(name)
        if base:
            self.out[-1:] = ["log10"] if base == ["10"] else ["log", *base, "log", "/"]
        if exponent:
            self.raised(exponent)
