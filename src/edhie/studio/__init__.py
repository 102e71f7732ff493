"""The studio: a page in the browser, from a table to equations, served on this machine.

The server answers requests and holds no state of its own: runs are folders. A search is a process of its own, the same
command as on the command line. Everything else that touches data or formulas is done by a process that can be killed
(`workshop`), so the server never imports the search, numba or pandas.
"""
