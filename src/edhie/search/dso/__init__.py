"""Deep symbolic optimisation (DSO): a recurrent policy trained on the best of its samples, with genetic programming.

Written from Petersen and others (2021), Landajuela and others (2021) and Mundhenk and others (2021).
"""

from edhie.search.dso.strategy import DSO, DSOConfig

__all__ = ["DSO", "DSOConfig"]
