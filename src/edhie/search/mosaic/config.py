"""Settings of the default search, and the constants of each of its phases.

`MosaicConfig` is for users. The constants below it are grouped by phase, in the order of a round. They were set by
hand while the search was developed; no systematic search over them is recorded. Comments say what a constant limits,
and why it has its value where the method gives a reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class MosaicConfig:
    """Settings of the default search: sizes, and switches for its parts.

    `experiments/ablation.py` measures what each switch adds, except `noise`, `symmetries` and `growing`.
    """

    rows: int = 256
    """Rows on which pieces are screened, spread over the target's range."""
    first_pieces: int = 48
    """Pieces screened in the first round; every round screens 1.5 times as many."""
    most_pieces: int = 3000
    """Maximum number of pieces screened in a round."""
    kept_pieces: int = 6000
    """Maximum number of pieces kept for products, pairs and variation; the simplest are kept."""
    largest_piece: int = 20
    """Maximum number of nodes of a piece."""
    largest_expression: int = 80
    """Maximum number of nodes of a written expression."""
    frames: int = 36
    """Number of frames (transformations of the target) in use at once, about."""
    elites: int = 80
    """Number of best pieces that each frame keeps."""
    written_a_round: int = 2
    """Maximum number of single pieces that a frame writes as expressions in a round."""
    links: bool = True
    """Transform the target by invertible functions: its reciprocal, square, …"""
    products: bool = True
    """Model the logarithm of the target, so that the target is a product of powers."""
    scales: bool = True
    """Multiply the target by powers of the variables."""
    quotients: bool = True
    """Fit quotients of polynomials in the first round."""
    polynomials: bool = True
    """Fit polynomials of the variables along with every piece."""
    pairs: bool = True
    """Screen pairs of pieces, and their products."""
    functions: bool = True
    """Screen functions of one variable with a constant from a grid, alone and in products with pieces."""
    fixed_terms: bool = True
    """Add good pieces to frames as fixed terms, and screen others beside them."""
    evolution: bool = True
    """Mutate and cross the best pieces as trees."""
    latent: bool = True
    """Vary the best pieces in the generator's latent space, if it has one."""
    enumeration: bool = True
    """Screen all short expressions, in order of size."""
    samples: bool = True
    """Screen subtrees of expressions that the generator samples."""
    noise: bool = True
    """Weight rows in each frame by the noise of the transformed target."""
    refits: bool = True
    """Refit all constants of written expressions to the target itself."""
    symmetries: bool = True
    """Detect symmetries of the target, and search in the reduced variables as well."""
    growing: bool = True
    """Insert terms into expressions of the Pareto front, where a score test says that they help most."""


# -- rounds: `search.py` ----------------------------------------------------------------


class Rounds:
    """Rounds in which each step is done, and how much of it. Costly steps come at growing intervals."""

    GROWTH = 1.5  # factor of the number of pieces from round to round: cheap rounds first, so easy targets end early
    PRODUCTS, MULTIPLIED = (1, 2, 4, 7, 12, 24, 48, 96, 192, 384), 100  # products among so many of the simplest pieces
    FUNCTIONS, CROSSED = (5, 9, 17, 33, 65, 129, 257), 30  # the grid of functions, times so many of the simplest pieces
    FUNCTION_PAIRS = (5, 17)  # pairs of such functions, with both constants fitted: slow
    PAIRS, PAIRS_WRITTEN = (1, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200, 300, 450), 3  # pairs; written of each frame
    BESIDE = 60  # simplest pieces that are paired with products of functions
    LAYERS_EVERY = 3  # rounds between updates of the fixed terms of frames
    IMPROVED_EVERY = 4  # rounds between improvements of whole expressions
    TUNED = 32  # elites a round whose inner constants are fitted
    SIMPLE, SIMPLE_SIZE = (4, 10, 20, 40), 7  # short pieces are written too, for the short end of the Pareto front
    SYMMETRIES = 4  # first round of the reduced search, and that of waves of products: simple targets are found by then
    CURVES = 6  # named curves of several columns: earlier, expressions would grow from them alone
    INTEGERS = 6  # integer coefficients under noise: a polynomial without noise has been found by then
    NOISE = (3, 6, 10, 16, 26, 42, 68, 110, 180, 300)  # the noise is estimated again, and frames are replaced
    LEAST_GAIN = 0.5  # bits by which a description has to be shorter to count as an improvement
    PATIENCE = 50  # rounds without a new piece or expression after which the search ends


# -- transformations of the target: `frames/` --------------------------------------------


class Columns:
    """Basis functions that are fitted along with every piece: `frames/free_columns.py`."""

    MOST = 66  # all products of ten variables up to degree 2
    ROWS_A_COLUMN = 4  # at least: with fewer, a polynomial overfits any target
    HIGHEST_DEGREE, HIGHEST_JOINT_DEGREE = 6, 4  # with one variable; with several
    INDEPENDENT = 1e-9  # a column with a smaller share of its norm orthogonal to the others is dependent on them
    NEW = 1e-10  # the same for the squared norm of a piece
    IN_CACHE = 1 << 17  # values in one block of a computation: 1 MB


class Opening:
    """Frames of the first round: `frames/opening_frames.py`."""

    LARGEST_EXPONENT = 30.0  # |y| at most for exp(y): beyond, rounding hides its small values
    PRODUCT_LINKS = ("y", "sin(y)", "cos(y)", "tan(y)")  # whose logarithms are modelled; log(y²) is 2·log|y|
    SCALED_LINKS = ("y", "1/y", "y^2", "1/y^2")  # that are multiplied by powers of the variables
    RELATIVE_LINKS = ("y", "1/y", "y^2", "exp(y)")  # that also get weights for noise in proportion to the target
    MOST_SCALES = 3000  # products of powers of the variables that are tried for each link, in one matrix product
    SCALES_A_LINK = 4  # the best of these become frames
    HIGHEST_POWER = 2  # of a variable in such a product
    MOVES = (-2, -1, 1, 2)  # of exponents, from those of a log-log fit
    MOST_TRUST = 1e4  # largest row scale relative to the median row: relative errors near y = 0 say little
    ROUNDING = 1e-29  # a variance below this share of the mean square counts as 0
    LARGEST_WEIGHT = 1e100  # of a row, after division by a guess
    GUESSES, GUESS_PIECES = 30, 300  # best guesses that are split into pieces; pieces from them
    SURROUNDED = 2  # guesses whose residuals and ratios become frames
    GUESS_COLUMNS = 10  # of the polynomial that is fitted along with the constants of a guess


class Noise:
    """Frames for noisy targets: `frames/noise_frames.py`."""

    INSIDE = 0.8  # least share of rows in the domain of a link; the others get weight 0
    COLUMNS = 21  # of free polynomials: all products of five variables up to degree 2
    RANKED_COLUMNS = 15  # of polynomials by which scales are ranked: fewer, since many are compared
    CHANGED = 0.1  # mean change for which frames are replaced: of centres, in deviations, or of logs of deviations
    INTEGER_ERRORS, INTEGER_MISS, INTEGER_MOST = 2.5, 0.03, 0.25  # integer exponents: within min(2.5 se + 0.03, 0.25)
    RICH = 3  # links besides y itself with free polynomials: those with the smallest residuals
    SCALED = 4  # frames with powers of the variables, for each link
    POWER = 5.0  # penalty of one more power of a variable, in variances of the noise: about 2.2 standard deviations
    SCALED_ROWS, MOST_SCALES = 150, 400  # rows and scales among which the best are chosen: a fit for each
    NEAR = 0.1  # an expression with less of the variance unexplained is close to the noise-free target
    LEAST_TRUST = 1e-6  # smallest weight of a row, relative to the mean


# -- sources of pieces: `proposals.py` --------------------------------------------------


class Proposing:
    """Pieces to screen next: `proposals.py`."""

    ENUMERATED, SAMPLED, NEIGHBOURS = 3, 6, 6  # one in so many pieces of a round: enumerated, sampled, latent
    SHARPNESS = 1.3  # a frame's share of parents falls with this power of its rank
    ELITE = 0.04  # parameter of the geometric distribution by which parents are drawn from ranked elites
    RELEVANT = 5  # best pieces of a frame by which the relevance of variables is counted
    TUNED_FRAMES = 5  # frames of each kind whose elites are tuned: those with the shortest descriptions


# -- screening: `screening/` --------------------------------------------------------------


class Screening:
    """Pieces, pairs and products in frames. Residuals are shares of the frame's total sum of squares."""

    SURE = 1e-9  # pieces with a smaller residual are written at once
    BETTER = 0.9  # pieces whose residual is smaller than this times the least so far are written
    PRICE = 1.0  # penalty of a node, in units of log2(number of symbols) bits
    ALIKE = 9  # elites whose explained shares agree to so many decimals count as duplicates
    CONSIDERED = 3  # times the capacity: offered pieces that are compared with the elites
    PAIRED_ELITES, PAIRED_FIRST, PAIRED_BEST = 30, 500, 1000  # in pairs: elites of a frame, simplest and best pieces
    MULTIPLIED_GROUPS = 4  # groups of frames with free polynomials in which products are screened
    OFFERED = 20  # products offered to a frame at once: each has to be written as a tree
    DEEPEST = 3  # most fixed terms of a frame
    GROWING = 3  # frames with fixed terms, of each kind, that get one more
    RANKS = 20  # elites among which a fixed term is drawn, besides the best


class FunctionPairs:
    """Pairs of functions of one variable: `screening/function_pairs.py`."""

    SUMS, PRODUCTS = 80, 40  # pairs that are fitted
    VARIABLES = 3  # most relevant variables whose functions are paired: pairs grow with the fourth power
    MOST_ROWS = 300  # on which pairs are screened
    FLAT = 1e-9  # a function whose variance is below this share of its mean square counts as constant
    ALIKE = 1e-7  # functions with 1 - r² below this count as equal


class PlainSums:
    """Sums without coefficients: `plain_sums` in `screening/pairs.py`."""

    PIECES = 1500  # simplest pieces that are paired: their Gram matrix has to fit into memory
    NEAREST = 200  # sums whose description lengths are computed, for each kind of noise
    LARGEST = 1e100  # absolute value of a piece
    KEPT = 8  # sums with the shortest descriptions


# -- symmetries: `symmetry/` -------------------------------------------------------------


class Symmetry:
    """Symmetries found with a Gaussian process: `symmetry/`. Errors are relative to the target's deviation."""

    LEAST_ROWS = 100  # with fewer, the process is too uncertain
    ROWS, TESTED = 700, 300  # training and held-out rows of the process
    FITTED_ROWS, STEPS = 250, 40  # rows and iterations for its hyperparameters
    LENGTH, LENGTHS = 2.0, (0.1, 400.0)  # start and bounds of a length scale, in standard deviations of the variable
    HEIGHT, HEIGHTS = 3.0, (0.05, 3000.0)  # start and bounds of the signal's standard deviation
    NOISE, NOISES = 1e-3, (1e-6, 3.0)  # start and bounds of the noise's standard deviation
    JITTER, FAILED = 1e-10, 1e10  # added to the diagonal, relative to the signal's variance; cost of a failed fit
    MOST_ERROR = 0.3  # held-out error of a process from which symmetries are read
    TOLERANCE, TOLERANCE_A_MISS = 0.03, 3.0  # limit on a symmetry's residual: constant part, and times held-out error
    MOST_TOLERANCE = 0.3  # upper bound of that limit
    WORSE, ROUGH = 1.5, 0.03  # factor by which the error may grow, since fits vary, if it was below ROUGH
    GOOD = 1e-3  # error that is accepted in any case
    MOST_FACTOR_ERROR = 0.02  # held-out error with which functions of one variable are tried as factors
    POWERS = (-2, -1, 1, 2)  # of variables in a scaling, and of functions as factors
    TARGET_POWERS = (0, 1, -1, 2, -2, 3, -3)  # of the target, under the same scaling
    MOST_SCALED = 4  # variables in a scaling
    NEAREST, TRIED = 2.0, 3  # the simplest TRIED symmetries within NEAREST times the least residual are fitted
    ATTEMPTS = 2  # such batches that are fitted
    AWAY_FROM_ZERO = 1e-3  # least |x|, relative to the largest, of a variable that others are divided by
    WRITTEN = 6  # expressions of the reduced search that are written for the target in a round


# -- writing: `writing/` ----------------------------------------------------------------


class Coefficients:
    """Coefficients of written expressions: `writing/linear_fit.py`, `writing/frame_writer.py`."""

    EXACT = 1e-18  # a residual sum of squares below this share of the total is rounding
    NEGLIGIBLE = 1e-8  # columns of an exact fit that contribute less, relative to the target's norm, are dropped
    DEPENDENT = 1e-11  # a column with a smaller share of its norm orthogonal to those before it is dropped
    PRICE = 1.5  # of a column, in units of log(number of rows); BIC has 1
    DENOMINATORS = (1, 2, 3, 4, 6)  # of fractions that coefficients are rounded to
    STANDARD_ERRORS = 3.0  # within which they are rounded
    HALVES = (1, 2)  # denominators of exponents
    LARGEST_LOGARITHM = 300.0  # of a factor: beyond, it overflows
    SYMBOL_PRICES = (1.0, 0.3, 0.0)  # of integer coefficients: shares of a symbol's bits, for short and long results
    STEPS = 40  # of a descent over integer coefficients
    MOST_PAIRED = 16  # columns up to which two coefficients are moved at a time: moves grow with the square
    AT_ONCE = 16  # predictions that are described together: so many fit into the processor's cache
    SYMBOLS_A_COLUMN = 5.0  # that one more column takes, about


class Quotients:
    """Quotients of polynomials: `writing/quotients.py`."""

    DEGREES = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 2), (2, 3), (3, 3), (2, 4), (4, 2))  # of numerator and denominator
    FUNCTIONS = ("cos", "sin", "exp")  # replace a variable where no quotient of polynomials is exact
    HIGHEST_POWER = 2  # of such a function
    LINKS = ("y", "y^2", "exp(y)", "sin(y)", "cos(y)")  # not 1/y: the reciprocal of a quotient is one
    MOST_COLUMNS, ROWS_A_COLUMN = 66, 3
    NEGLIGIBLE = 1e-9  # coefficients that are smaller, relative to the largest, are rounding
    VANISHING = 1e-12  # columns whose singular values have a smaller ratio, least to largest, are dependent
    NOISY_DEGREES = ((1, 1), (2, 1), (1, 2), (2, 2), (0, 1), (0, 2))  # higher ones overfit
    NOISY_LINKS = ("y", "y^2", "1/y^2", "exp(y)")
    NOISY_COLUMNS = 45
    MOST_MONOMIALS, MOST_ABOVE, SPARSE = 28, 4, 8  # sparse quotients: monomials, those in a numerator, quotients kept
    DEPENDENT = 1e-9  # a monomial with a smaller squared residual, relative to the largest, is not added
    REWEIGHTED = 4  # iterations, each with the denominator of the one before
    SMALLEST = 1e-3  # lower bound of the denominator in the weights, relative to its mean
    PRICE = 1.5  # of a column, in units of log(number of rows)
    RIDGE = 1e-10  # added to diagonals, relative to their mean


class OneVariable:
    """Functions of one variable found on grids: `writing/peaks.py`, `writing/waves_and_exponentials.py`.

    Positions, widths and exponents on the grids are relative to the range of the variable.
    """

    LEAST_VALUES, PEAK_VALUES = 8, 15  # distinct values that a variable needs; for peaks
    MOST_VARIABLES, PEAK_VARIABLES = 8, 4  # that are tried; for peaks
    WAVE_DECAYS = (0.0, -1.0, -2.0, -4.0, -8.0, 1.0, 2.0, 4.0)  # exponents of the envelope
    WAVE_STEPS, WAVE_TURNS, WAVES_WRITTEN = 4, 40, 4  # grid steps a period, most periods, waves written for each degree
    MOST_PRODUCTS, PRODUCT_WAVES, PRODUCT_WAVES_WRITTEN = 80, 6, 2  # products tried; waves written: all, of a product
    WAVE_EXPLAINED, EXPLAINED = 0.2, 0.5  # share of the variance that a function has to explain to be written
    EXPONENTIAL_RATES = tuple(
        sign * rate for sign in (-1.0, 1.0) for rate in np.geomspace(0.3, 40.0, 12).tolist() if rate * sign < 10
    )  # beyond a growth of exp(10), a sum looks like one exponential
    EXPONENTIALS = ((2, False), (2, True), (3, False))  # number of exponentials, and whether a constant is added
    REFINEMENTS = 200  # evaluations to refine rates
    EXPONENTIAL_ROWS, PEAK_ROWS = 200, 300  # on which sums are compared
    PEAK_PLACES = np.linspace(0.0, 1.0, 41)
    PEAK_WIDTHS = np.geomspace(0.02, 0.5, 10)
    BACKGROUND_RATES = np.array([-30.0, -12.0, -6.0, -3.0, -1.5, -0.5, 0.5, 1.5, 3.0])
    PEAKS_APART = 1e-3  # peaks with 1 - r² below this count as one
    PEAKS_WRITTEN = 2  # sums written for each shape and number of peaks: those with the best backgrounds


# -- fitting and tidying: `fitting/` ----------------------------------------------------


class Scoring:
    """Expressions scored and refitted: `fitting/scoring.py` and its callers."""

    EXACT = 1e-24  # a residual sum of squares below this share of the total is rounding
    WIDE_ROWS = 5000  # on which frames are fitted with their free columns alone
    NOISY_ROWS, NOISY_COLUMNS = 1000, (10, 28, 66)  # the same under noise; column limits, since high degrees overfit
    FIT_ROWS = 2000  # on which constants are refitted
    MANY_ROWS, SLACK = 20_000, 1.05  # with more rows a sample comes first; all rows only within SLACK of the front
    QUOTIENT_ROWS = 400  # on which quotients of polynomials are fitted
    SUM_ROWS = 1024  # on which sums without coefficients are compared
    IMPROVED_ROWS = 1000  # on which variants of expressions are fitted and described
    TUNED_SIZE = 40  # most nodes of an expression whose pieces are tuned: longer ones take long to fit
    CURVES = 40  # named curves that are scored: those with the shortest descriptions
    OPENED = 16  # frames that are written with their free columns alone
    REFITS = 10  # expressions that are refitted, of those written at once
    TRIMMED = 4  # expressions beyond the size limit whose subtrees are removed


class Improving:
    """Variants of whole expressions: `fitting/improving.py`; the leaders of `fitting/scoring.py`."""

    EXPRESSIONS, TIMES, CHILDREN = 3, 2, 25  # leaders, times in a row, offspring of each
    TIDY_ROUNDS = 24  # most attempts to shorten an exact expression
    LEADERS = 100  # expressions with the shortest descriptions that are kept
    DESCRIBED = 400  # new expressions that are described: so many by error, so many by size
    PLAINER = 30  # leaders whose constants are rounded to plain numbers
    SIMILAR_ROWS = 200  # on which functions are compared
    SIMILAR_SCALES = np.array([0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.97, 1.3, 2.0, 3.0, 5.0, 10.0])  # over the largest value
    PLAIN_SCALES = np.array([0.5, 1.0, 2.0])
    SIMILAR_POWERS = np.array([-3.0, -2.0, -1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0, 3.0])
    ALIKE = 0.1  # functions that differ by more of the variance are not tried
    TRIED = 8  # functions in one place
    LARGEST_SIMILAR = 1e100  # sum of squares of a function


class Growing:
    """Terms inserted into expressions of the Pareto front: `fitting/growing.py`."""

    PARENTS = 16  # expressions of the front that are grown in a round
    WRITTEN, EQUAL = 8, 2  # distinct gains of an expression that are written, and insertions with an equal gain
    LEAST_BITS = 8.0  # least gain to first order: below, it is chance, or less than the term costs
    NEAR = 1e-8  # expressions with a residual below this share of the target's sum of squares are not grown
    BEYOND = 0.2  # standard deviations beyond the rows at which a grown expression has to be defined
    DIGITS = 6  # decimals to which gains are compared
    SURE = 1e-12  # smallest share of the residual sum of squares that can be left: below is rounding
    NEW = 1e-8  # an effect with a smaller share of squares orthogonal to the constants' slopes counts as 0
