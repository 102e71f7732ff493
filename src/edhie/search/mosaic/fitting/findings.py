"""Findings written as expressions for the target, and scored.

A frame is a linear model of the transformed target (`frames/frame.py`); a finding is a frame with the terms that
screening found for it. Frames are also written with their free columns alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from edhie.evaluate.data import few_rows
from edhie.evaluate.parallel import parallel_map
from edhie.expr import Expr, Forest
from edhie.search.arrays import Numbers
from edhie.search.mosaic.config import Scoring
from edhie.search.mosaic.fitting.scoring import Scorer
from edhie.search.mosaic.frames.frame import Frame, usable_links
from edhie.search.mosaic.frames.noise_frames import RowNoise, noise_frames, noise_views
from edhie.search.mosaic.frames.opening_frames import opening_frames
from edhie.search.mosaic.screening.frame_pool import Finding
from edhie.search.mosaic.screening.pairs import plain_sums
from edhie.search.mosaic.writing.frame_writer import FrameWriter
from edhie.search.mosaic.writing.named_curves import named_curves
from edhie.search.mosaic.writing.peaks import peak_expressions
from edhie.search.mosaic.writing.quadratics import quadratics
from edhie.search.mosaic.writing.quotients import noisy_quotients, quotients
from edhie.search.mosaic.writing.waves_and_exponentials import exponential_expressions, product_waves, wave_expressions
from edhie.search.pieces.rewriting import pieces_within


class Findings:
    """Writes and scores the findings of one task."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer, self._config, self._library = scorer, scorer.config, scorer.library
        self._data = scorer.evaluator.data
        self._writer = FrameWriter(self._library, self._data)
        self._speller = self._writer.speller
        self._sum_data = few_rows(self._data, Scoring.SUM_ROWS)

    # -- free columns alone ---------------------------------------------------------------

    def write_columns(self, frames: Sequence[Frame]) -> None:
        """Score frames with their free columns alone, then functions of one variable, then quotients of polynomials.

        Stop at the first group with an exact expression.
        """
        wide = opening_frames(few_rows(self._data, Scoring.WIDE_ROWS), self._library, self._config, for_columns=True)
        best = _best([*wide, *(frame for frame in frames if any(frame.scale))])
        best += _best([frame for frame in frames if frame.around])
        self._score(self._written_alone(best))
        few, speller, library = self._scorer.few_data, self._speller, self._library
        if self._config.functions and not self._scorer.is_done:
            sources = (
                partial(wave_expressions, few, speller),
                partial(exponential_expressions, few, speller),
                partial(peak_expressions, few, library),
            )
            for found in parallel_map(lambda source: source(), sources):
                self._score(found)
        if self._config.quotients and not self._scorer.is_done:
            links = usable_links(self._scorer.fit_data.y, library)
            rows = few_rows(self._data, Scoring.QUOTIENT_ROWS)
            self._score([*quotients(rows, speller, links), *quadratics(rows, speller)])
        if self._data.n_variables == 1 and not self._scorer.is_done:
            self.write_named_curves()

    def write_named_curves(self) -> None:
        """Score the named curves with the shortest descriptions: with several columns there are hundreds."""
        if not self._config.functions:
            return
        curves = named_curves(self._scorer.few_data, self._library, self._scorer.fitting)
        found = Forest.from_exprs(curves, self._library)
        if len(found):
            self._score(found.take(np.argsort(self._scorer.bits(found), kind="stable")[: Scoring.CURVES]))

    def write_product_waves(self) -> None:
        """Score waves of products of variables."""
        self._score(product_waves(self._scorer.few_data, self._speller))

    def write_noisy_columns(self) -> None:
        """Score frames weighted by the noise with their free columns alone, and quotients of polynomials.

        Do nothing if the noise is not known, or coefficients cannot be written.
        """
        wide, known = few_rows(self._data, Scoring.NOISY_ROWS), self._scorer.noise
        noise = None if known is None else RowNoise.estimated_by(*known, wide)
        if noise is None or not self._speller.is_free:
            return
        for most in Scoring.NOISY_COLUMNS:
            frames = _best(noise_frames(wide, self._library, self._config, noise, most=most))
            self._score(self._written_alone(frames))
        if self._config.quotients:
            views = noise_views(wide, self._library, self._config, noise)
            self._score(noisy_quotients(wide, views, self._speller))

    def write_integer_columns(self) -> None:
        """Score frames with integer coefficients, if the library has neither constants nor numbers.

        Under noise, rounding the fitted coefficients may miss the right integers.
        """
        if self._speller.is_free:
            return
        wide = few_rows(self._data, Scoring.WIDE_ROWS)
        frames = opening_frames(wide, self._library, self._config, for_columns=True)
        self._score(expr for frame in frames for expr in self._writer.write_integers(frame, wide))

    # -- with further terms ---------------------------------------------------------------

    def write(self, findings: list[Finding]) -> list[Expr]:
        """Score findings, the best first; return their pieces with the constants of the refitted expressions."""
        written = self._written(sorted(findings, key=lambda each: each.left))
        forest, fitted = self._scorer.score([expr for _, expr in written])
        bits = self._scorer.bits(forest)
        again = self._scorer.bits(Forest.from_exprs([expr for _, expr in fitted], self._library))
        np.minimum.at(bits, [k for k, _ in fitted], again)
        bits[~self._scorer.allowed(forest)] = np.inf
        for (finding, _), count in zip(written, bits.tolist(), strict=True):
            finding.pooled.bits = min(finding.pooled.bits, count)
        return _pieces((written[k][0], forest[k], expr) for k, expr in fitted)

    def tune(self, findings: list[Finding]) -> list[Expr]:
        """Return the pieces of findings with their constants refitted, as part of the whole expression.

        Long expressions, and those beyond the budget, are left out.
        """
        written = [each for each in self._written(findings) if each[1].size <= Scoring.TUNED_SIZE]
        written = written[: self._scorer.task.within_budget(len(written))]
        if not written:
            return []
        self._scorer.evaluator.spend(len(written))
        fitted = self._refitted([expr for _, expr in written])
        return _pieces((*each, after) for each, after in zip(written, fitted, strict=True))

    def fitted_with_columns(self, guess: Forest, row: Numbers, frame: Frame) -> Expr:
        """Return a guess with its constants fitted together with the free columns of a frame; `row` has its values."""
        if not np.isfinite(row).all() or "+" not in self._library or len(guess.values) == 0:
            return guess[0]
        around = replace(frame, target=frame.target - row, around=("+", guess))
        written = self._short(self._writer.write(around))
        if not written:
            return guess[0]
        return guess[0].with_constants(self._refitted(written[:1]).values[: len(guess.values)].tolist())

    def write_sums(self, pieces: Forest) -> None:
        """Score the single pieces and sums of two pieces that have the shortest descriptions.

        Do nothing if the library has what is needed to write coefficients.
        """
        if self._speller.is_free and "+" in self._library and "*" in self._library:
            return
        task, scorer = self._scorer.task, self._scorer
        sums, screened = plain_sums(pieces, self._sum_data, scorer.evaluator.rules, task.criterion)
        task.tally.screened += screened
        scorer.evaluator.score(scorer.within_bounds(scorer.shortened(sums)))

    def _written_alone(self, frames: Sequence[Frame]) -> list[Expr]:
        return [expr for frame in frames for expr in self._writer.write(frame)]

    def _written(self, findings: Iterable[Finding]) -> list[tuple[Finding, Expr]]:
        return [
            (each, expr) for each in findings for expr in self._short(self._writer.write(each.pooled.frame, each.extra))
        ]

    def _refitted(self, written: list[Expr]) -> Forest:
        self._scorer.task.tally.refits += len(written)
        return self._scorer.refitted(Forest.from_exprs(written, self._library), self._scorer.few_data)

    def _score(self, written: Iterable[Expr]) -> None:
        self._scorer.score(self._short(written))

    def _short(self, written: Iterable[Expr]) -> list[Expr]:
        return [expr for expr in written if expr.size <= self._config.largest_expression]


def _pieces(written: Iterable[tuple[Finding, Expr, Expr]]) -> list[Expr]:
    """Return the pieces of findings with fitted constants, given each finding as written and as fitted."""
    terms = ((term.piece[0], before, after) for each, before, after in written for term in each.extra)
    return [piece for each in terms for piece in pieces_within(*each)]


def _best(frames: list[Frame]) -> list[Frame]:
    return sorted(frames, key=lambda frame: frame.unexplained)[: Scoring.OPENED]
