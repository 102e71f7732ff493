"""Forms: expressions with unknown parts, such as `f(x0)*exp(-c*x1) + g(x1)`, read, filled and taken apart."""

from edhie.form.form import Form

__all__ = ["Form"]
