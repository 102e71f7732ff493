"""Probabilistic grammars of expressions: the text format, drawing, probabilities and derivations."""

from edhie.grammar.loading import load, names, universal_grammar
from edhie.grammar.pcfg import PCFG
from edhie.grammar.rules import Nonterminal, Rule

__all__ = ["PCFG", "Nonterminal", "Rule", "load", "names", "universal_grammar"]
