"""Settings of the default search, and the constants of each of its phases.

`MosaicConfig` is for users. The constants below it are grouped by phase, in the order of a round. They were set by
hand while the search was developed; no systematic search over them is recorded. Each has a line on what it is for, and
on why it is that large where the method shows a reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class MosaicConfig:
    """Settings of the default search: how many pieces it looks at, and which of its parts are switched on.

    `experiments/ablation.py` measures what each switch adds, except `noise`, `symmetries` and `growing`.
    """

    rows: int = 256
    """Rows, spread over the target's range, that pieces are screened on."""
    first_pieces: int = 48
    """Pieces looked at in the first round; every round has half as many again."""
    most_pieces: int = 3000
    """Pieces looked at in a round at most."""
    kept_pieces: int = 6000
    """Pieces kept to build with, the smallest first."""
    largest_piece: int = 20
    """Nodes of a piece at most."""
    largest_expression: int = 80
    """Nodes of a written expression at most."""
    frames: int = 36
    """Ways of looking at the target that are worked on at once."""
    elites: int = 80
    """The best pieces that each of them remembers."""
    written_a_round: int = 2
    """New expressions that a frame writes in a round at most."""
    links: bool = True
    """Look at the target also through functions that can be undone: its reciprocal, square, …"""
    products: bool = True
    """Look at it also as a product of powers, through its logarithm."""
    scales: bool = True
    """Look at it also after multiplying it with powers of the variables."""
    quotients: bool = True
    """Look for quotients of polynomials at the beginning."""
    polynomials: bool = True
    """Fit polynomials of the variables along with every piece."""
    pairs: bool = True
    """Screen pairs of pieces, and their products."""
    functions: bool = True
    """Try functions of one variable with one constant on a grid of it, in products with pieces."""
    fixed_terms: bool = True
    """Fix good pieces as terms, and look for others beside them."""
    evolution: bool = True
    """Change the best pieces as trees."""
    latent: bool = True
    """Change the best pieces in the generator's latent space too, if it has one."""
    enumeration: bool = True
    """Look at the shortest expressions in order."""
    samples: bool = True
    """Take pieces from expressions that the generator samples."""
    noise: bool = True
    """Weight rows by the noise that each way of looking at the target gives them."""
    refits: bool = True
    """Fit constants again to the target itself, all at once."""
    symmetries: bool = True
    """Look for symmetries of the target, and search in the fewer variables that they leave, too."""
    growing: bool = True
    """Put terms into the middle of expressions, in the places where they explain most."""


# -- rounds: `search.py` ----------------------------------------------------------------


class Rounds:
    """Rounds in which something happens, and how much of it. Costly steps come at growing intervals."""

    GROWTH = 1.5  # of the number of pieces from round to round: cheap rounds first, so that easy targets end early
    PRODUCTS, MULTIPLIED = (1, 2, 4, 7, 12, 24, 48, 96, 192, 384), 100  # products of so many of the plainest pieces
    FUNCTIONS, CROSSED = (5, 9, 17, 33, 65, 129, 257), 30  # the grid of functions, times so many pieces
    FUNCTION_PAIRS = (5, 17)  # pairs of such functions, with both constants fitted: slow
    PAIRS, PAIRS_WRITTEN = (1, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200, 300, 450), 3  # so many of each frame written
    BESIDE = 60  # plain pieces that are paired with products of functions
    LAYERS_EVERY = 3  # terms are fixed in frames
    IMPROVED_EVERY = 4  # whole expressions are changed and refitted
    TUNED = 32  # pieces a round whose inner constants are fitted
    SIMPLE, SIMPLE_SIZE = (4, 10, 20, 40), 7  # short pieces are written by themselves, for the short end of the front
    SYMMETRIES = 4  # are looked for, and waves of products: by then what is simple is found
    WHOLE = 6  # whole coefficients are looked for: by then a target without noise is found, if columns are enough
    NOISE = (3, 6, 10, 16, 26, 42, 68, 110, 180, 300)  # frames are made anew for the noise as it is estimated then
    LEAST_GAIN = 0.5  # bits by which an equation has to be shorter to count as an improvement
    PATIENCE = 50  # rounds without anything new after which the search ends


# -- ways of looking at the target: `frames/` -------------------------------------------


class Columns:
    """Columns that are fitted along with every piece: `frames/free_columns.py`."""

    MOST = 66  # all products of ten variables up to degree 2
    ROWS_A_COLUMN = 4  # at least: with fewer a polynomial follows any target
    HIGHEST_DEGREE, HIGHEST_JOINT_DEGREE = 6, 4  # of one variable, of several
    INDEPENDENT = 1e-9  # share of a column's length that others have to leave: less is rounding
    NEW = 1e-10  # the same for the square of a piece
    IN_CACHE = 1 << 17  # values in one block of a computation: 1 MB


class Opening:
    """Frames at the beginning: `frames/opening_frames.py`."""

    LARGEST_EXPONENT = 30.0  # of exp(y): beyond, rounding hides its small values
    PRODUCT_LINKS = ("y", "sin(y)", "cos(y)", "tan(y)")  # that may be products of powers; that of y² is that of y
    SCALED_LINKS = ("y", "1/y", "y^2", "1/y^2")  # that are multiplied with powers of the variables
    RELATIVE_LINKS = ("y", "1/y", "y^2", "exp(y)")  # that are looked at with noise in proportion to the target
    MOST_SCALES = 3000  # products of powers of the variables that are tried: a product of matrices for each link
    SCALES_A_LINK = 4  # of these, that become frames
    HIGHEST_POWER = 2  # of a variable in such a product
    MOVES = (-2, -1, 1, 2)  # of powers, from those that the logarithm of the target suggests
    MOST_TRUST = 1e4  # weight of a row, over that of the median row: near 0 a relative error says little
    ROUNDING = 1e-29  # of a target's squares: less about the mean is a constant
    LARGEST_WEIGHT = 1e100  # of a row, where a guess is divided out
    GUESSES, GUESS_PIECES = 30, 300  # best expressions known before the search that are taken apart, and pieces of them
    SURROUNDED = 2  # guesses whose residuals and ratios become frames
    GUESS_COLUMNS = 10  # of the polynomial beside which the constants of a guess are fitted


class Noise:
    """Frames that know the noise: `frames/noise_frames.py`."""

    INSIDE = 0.8  # share of the rows on which a link has to hold; the others do not count
    COLUMNS = 21  # of polynomials that come free: all products of five variables up to degree 2
    RANKED_COLUMNS = 15  # of those by which powers of the variables are chosen: fewer, since many are compared
    CHANGED = 0.1  # standard deviations by which the noise has to look different for new frames
    WHOLE_ERRORS, WHOLE_MISS, WHOLE_MOST = 2.5, 0.03, 0.25  # standard errors, and miss, of a power that is whole
    RICH = 3  # links besides the target itself with free polynomials: those that these explain best
    SCALED = 4  # frames with powers of the variables, of each link
    POWER = 5.0  # squares over the variance of the noise that a power of a variable has to save: about 2.2 deviations
    SCALED_ROWS, MOST_SCALES = 150, 400  # on which, and of how many, the best are chosen: a fit for each
    NEAR = 0.1  # of the variance: an expression that leaves less is near the target without noise
    LEAST_TRUST = 1e-6  # weight of a row, over that of the mean row


# -- sources of pieces: `proposals.py` --------------------------------------------------


class Proposing:
    """Pieces to look at next: `proposals.py`."""

    ENUMERATED, SAMPLED, NEIGHBOURS = 3, 6, 6  # one in so many pieces of a round: shortest, from samples, latent
    SHARPNESS = 1.3  # power of the rank with which a frame's chance falls that its pieces are changed
    ELITE = 0.04  # chance that a frame's best piece is the one to be changed; the next share what is left
    RELEVANT = 5  # best pieces of a frame that tell which variables matter
    TUNED_FRAMES = 5  # frames of each kind whose pieces are tuned: those with the shortest descriptions


# -- screening: `screening/` --------------------------------------------------------------


class Screening:
    """Pieces, pairs and products in frames."""

    SURE = 1e-9  # of what is to be explained: pieces that leave less are written at once
    BETTER = 0.9  # times what was left before: pieces that leave less are written
    PRICE = 1.0  # of a node, in bits of a symbol
    ALIKE = 9  # digits of the explained share: elites that agree in them are taken for one
    CONSIDERED = 3  # times the capacity: offered pieces that are compared with the elites
    PAIRED_ELITES, PAIRED_FIRST, PAIRED_BEST = 30, 500, 1000  # tried in pairs: elites a frame, plainest and best pieces
    MULTIPLIED_GROUPS = 4  # groups of frames with free polynomials in which products are screened
    OFFERED = 20  # products offered to a frame at once: each has to be written as a tree
    DEEPEST = 3  # terms that are fixed in a frame
    GROWING = 3  # frames with fixed terms, of each kind, that grow on
    RANKS = 20  # elites among which a term is drawn, besides the best


class FunctionPairs:
    """Pairs of functions of one variable: `screening/function_pairs.py`."""

    SUMS, PRODUCTS = 80, 40  # pairs that are fitted
    VARIABLES = 3  # whose functions are paired: the number of pairs grows with the fourth power
    MOST_ROWS = 300  # on which pairs are screened
    FLAT = 1e-9  # of a function's squares: less about its mean is a constant
    ALIKE = 1e-7  # of its own squares: two functions that leave less of each other are the same


class PlainSums:
    """Sums without coefficients: `plain_sums` in `screening/pairs.py`."""

    PIECES = 1500  # the plainest: their Gram matrix has to fit into memory
    NEAREST = 200  # sums that are described, for each kind of noise
    LARGEST = 1e100  # value of a piece
    KEPT = 8  # sums with the shortest descriptions


# -- symmetries: `symmetry/` -------------------------------------------------------------


class Symmetry:
    """Symmetries that a smooth function through the rows shows: `symmetry/`."""

    LEAST_ROWS = 100  # with fewer a smooth function says little
    ROWS, TESTED = 700, 300  # that it is fitted to, and that it is tested on
    FITTED_ROWS, STEPS = 250, 40  # by which its lengths are chosen, and in how many steps
    LENGTH, LENGTHS = 2.0, (0.1, 400.0)  # of a variable, in standard deviations: at first, and limits
    HEIGHT, HEIGHTS = 3.0, (0.05, 3000.0)  # of the function
    NOISE, NOISES = 1e-3, (1e-6, 3.0)  # of the target
    JITTER, FAILED = 1e-10, 1e10  # added to the diagonal, over the function's variance; cost of a failed fit
    MOST_ERROR = 0.3  # of the target's deviation: a function that misses by more says nothing
    TOLERANCE, TOLERANCE_A_MISS = 0.03, 3.0  # of a symmetry's residual: at least, and for the function's own error
    MOST_TOLERANCE = 0.3
    WORSE, ROUGH = 1.5, 0.03  # times the error before that is accepted, since fits vary, if that was below this one
    GOOD = 1e-3  # error that is accepted in any case
    MOST_FACTOR_ERROR = 0.02  # with which a function of one variable may be a factor
    POWERS = (-2, -1, 1, 2)  # of variables in a scaling, and of functions as factors
    TARGET_POWERS = (0, 1, -1, 2, -2, 3, -3)  # of the target, under the same scaling
    MOST_SCALED = 4  # variables that a scaling changes
    NEAREST, TRIED = 2.0, 3  # times the least residual: among these the simplest come first, and so many are tried
    ATTEMPTS = 2  # to find one of them that holds
    AWAY_FROM_ZERO = 1e-3  # least size of a variable that others are divided by, over its largest
    WRITTEN = 6  # expressions a round that are written for the target itself


# -- writing: `writing/` ----------------------------------------------------------------


class Coefficients:
    """Coefficients of written expressions: `writing/linear_fit.py`, `writing/frame_writer.py`."""

    EXACT = 1e-18  # of a target's squares: less is rounding
    NEGLIGIBLE = 1e-8  # of the target's size: a column that adds less to an exact fit is left out
    DEPENDENT = 1e-11  # share of a column's length that others have to leave
    PRICE = 1.5  # of a column, in logarithms of the number of rows; BIC has 1
    DENOMINATORS = (1, 2, 3, 4, 6)  # of fractions that coefficients are rounded to
    STANDARD_ERRORS = 3.0  # within which they are
    HALVES = (1, 2)  # denominators of exponents
    LARGEST_LOGARITHM = 300.0  # of a factor: beyond, it overflows
    SYMBOL_PRICES = (1.0, 0.3, 0.0)  # of symbols, for whole coefficients: shares of their bits, to get long and short
    STEPS = 40  # of a descent over whole coefficients
    MOST_PAIRED = 16  # columns of which two coefficients at a time are moved: steps grow with the square
    AT_ONCE = 16  # predictions that are described together: so many stay in the processor's cache
    SYMBOLS_A_COLUMN = 5.0  # that one more column takes, about


class Quotients:
    """Quotients of polynomials: `writing/quotients.py`."""

    DEGREES = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 2), (2, 3), (3, 3), (2, 4), (4, 2))  # of numerator and denominator
    FUNCTIONS = ("cos", "sin", "exp")  # through which a variable is tried, where no quotient of polynomials is exact
    HIGHEST_POWER = 2  # of such a function
    LINKS = ("y", "y^2", "exp(y)", "sin(y)", "cos(y)")  # the reciprocal of a quotient is one
    MOST_COLUMNS, ROWS_A_COLUMN = 66, 3
    NEGLIGIBLE = 1e-9  # of the largest coefficient: smaller ones are rounding
    VANISHING = 1e-12  # length of a combination of columns, over that of the largest, that is rounding
    NOISY_DEGREES = ((1, 1), (2, 1), (1, 2), (2, 2), (0, 1), (0, 2))  # higher ones follow the noise
    NOISY_LINKS = ("y", "y^2", "1/y^2", "exp(y)")
    NOISY_COLUMNS = 45
    MOST_MONOMIALS, MOST_ABOVE, SPARSE = 28, 4, 8  # of sparse quotients: to choose from, in a numerator, tried
    DEPENDENT = 1e-9  # of the squares: what is left of a column that others explain
    REWEIGHTED = 4  # fits, each with the denominator of the one before
    SMALLEST = 1e-3  # of the mean size of the denominator: rows where it is smaller count no more
    PRICE = 1.5  # of a column, in logarithms of the number of rows
    RIDGE = 1e-10  # of the mean square: added to diagonals


class OneVariable:
    """Functions of one variable found on grids: `writing/curves.py`, `writing/waves_and_exponentials.py`."""

    LEAST_VALUES, PEAK_VALUES = 8, 15  # different values that a variable has to have; for peaks
    MOST_VARIABLES, PEAK_VARIABLES = 8, 4  # that are tried
    WAVE_DECAYS = (0.0, -1.0, -2.0, -4.0, -8.0, 1.0, 2.0, 4.0)  # exponents of an envelope over the range of x
    WAVE_STEPS, WAVE_TURNS, WAVES_WRITTEN = 4, 40, 4  # frequencies a turn over the range, turns, waves of a variable
    MOST_PRODUCTS, PRODUCT_WAVES, PRODUCT_WAVES_WRITTEN = 80, 6, 2  # of variables that waves are of; written; of each
    WAVE_EXPLAINED, EXPLAINED = 0.2, 0.5  # of the squares: what explains less is not written
    EXPONENTIAL_RATES = tuple(
        sign * rate for sign in (-1.0, 1.0) for rate in np.geomspace(0.3, 40.0, 12).tolist() if rate * sign < 10
    )  # exponents over the range of x; growth by more than exp(10) looks like one exponential
    EXPONENTIALS = ((2, False), (2, True), (3, False))  # how many, and whether there is a constant
    REFINEMENTS = 200  # evaluations to refine rates
    EXPONENTIAL_ROWS, PEAK_ROWS = 200, 300  # that sums are compared on
    PLACES = np.linspace(-0.5, 1.5, 41)  # of a curve over the range of x
    WIDTHS = np.geomspace(0.02, 3.0, 12)  # over the range
    RATES = np.concatenate([-np.geomspace(0.3, 30.0, 10), np.geomspace(0.3, 10.0, 6)])  # exponents over the range
    SHIFTS = np.concatenate([[0.0], np.geomspace(0.02, 10.0, 12)])  # of the smallest value from 0, over the range
    POWERS = np.array([-5.0, -3.0, -2.0, -1.5, -1.0, -0.5, -0.25, 0.25, 0.5, 1.5, 2.0, 3.0, 5.0])
    LARGEST_CURVE = 1e100  # value of a curve
    PEAK_PLACES = np.linspace(0.0, 1.0, 41)  # over the range
    PEAK_WIDTHS = np.geomspace(0.02, 0.5, 10)  # over the range
    BACKGROUND_RATES = np.array([-30.0, -12.0, -6.0, -3.0, -1.5, -0.5, 0.5, 1.5, 3.0])  # over the range
    PEAKS_APART = 1e-3  # of their squares: peaks that differ by less are one
    PEAKS_WRITTEN = 2  # backgrounds, for each shape and number of peaks


# -- fitting and tidying: `fitting/` ----------------------------------------------------


class Scoring:
    """Expressions scored, with constants fitted again: `fitting/scoring.py` and what uses it."""

    EXACT = 1e-24  # of the target's squares: less is rounding
    WIDE_ROWS = 5000  # on which columns alone are fitted
    NOISY_ROWS, NOISY_COLUMNS = 1000, (10, 28, 66)  # the same under noise, where polynomials of high degree follow it
    FIT_ROWS = 2000  # on which constants are fitted again
    MANY_ROWS, SLACK = 20_000, 1.05  # of more rows some are looked at first; so much worse there is not looked at again
    QUOTIENT_ROWS = 400  # on which quotients of polynomials are fitted
    SUM_ROWS = 1024  # on which sums without coefficients are tried
    IMPROVED_ROWS = 1000  # on which changed expressions are fitted and described
    TUNED_SIZE = 40  # nodes of an expression whose pieces are tuned: fits of longer ones take long
    OPENED = 16  # frames whose columns alone are written
    REFITS = 10  # expressions fitted again, of those written at once
    TRIMMED = 4  # expressions that are too large for the constraints, of which parts are taken out


class Improving:
    """Whole expressions changed: `fitting/improving.py`, `fitting/leaders.py`."""

    EXPRESSIONS, TIMES, CHILDREN = 3, 2, 25  # leaders, how often in a row, changed copies of each
    TIDY_ROUNDS = 24  # parts taken out of an exact expression, one after the other
    LEADERS = 100  # expressions with the shortest descriptions that are kept
    DESCRIBED = 400  # new expressions that are described, of the least error, and of the least size
    PLAINER = 30  # leaders whose constants may be plain numbers
    SIMILAR_ROWS = 200  # on which functions are compared
    SIMILAR_SCALES = np.array([0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.97, 1.3, 2.0, 3.0, 5.0, 10.0])  # over the largest value
    PLAIN_SCALES = np.array([0.5, 1.0, 2.0])
    SIMILAR_POWERS = np.array([-3.0, -2.0, -1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0, 3.0])
    ALIKE = 0.1  # of the variance: functions that differ by more are not tried
    TRIED = 8  # functions in one place
    LARGEST_SIMILAR = 1e100  # sum of squares of a function


class Growing:
    """Terms put into leaders: `fitting/growing.py`."""

    PARENTS = 16  # expressions of the front, at a time
    WRITTEN, EQUAL = 8, 2  # of the places and terms that explain most, and of those that explain the same
    LEAST_BITS = 8.0  # that a term saves to first order: less is chance, or costs more than it saves
    NEAR = 1e-8  # of the target's squares: what leaves less is not grown
    BEYOND = 0.2  # standard deviations beyond the rows at which what has grown keeps its domain
    DIGITS = 6  # behind the point, to which bits are compared
    SURE = 1e-12  # share of what is left that is rounding
    NEW = 1e-8  # of an effect's squares: less beside what constants explain is rounding
