"""Benchmarks: problems, methods, resumable runs and reports."""

from edhie.bench.methods import METHODS, Method
from edhie.bench.problem import BenchmarkProblem, benchmark_names, load_problems
from edhie.bench.problem_files import ProblemError, Variable
from edhie.bench.runner import Plan, run_benchmark
from edhie.bench.trial import TrialSettings

__all__ = [
    "METHODS", "BenchmarkProblem", "Method", "Plan", "ProblemError", "TrialSettings", "Variable", "benchmark_names",
    "load_problems", "run_benchmark",
]  # fmt: skip
