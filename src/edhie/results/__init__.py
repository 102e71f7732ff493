"""The outcome of a search: scored expressions, the front of the best trade-offs, and how it got there."""

from edhie.evaluate.counting import Counts as SearchCounts
from edhie.results.candidates import Candidate, Candidates, Front, front_of
from edhie.results.result import STOPPED, History, SearchResult

__all__ = ["STOPPED", "Candidate", "Candidates", "Front", "History", "SearchCounts", "SearchResult", "front_of"]
