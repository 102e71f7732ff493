"""A search for the unknown parts of a given form, such as `f(x0)*exp(-c*x1) + g(x1)`."""

from edhie.search.template.search import TemplateSearch
from edhie.search.template.template import Template, TemplateConfig

__all__ = ["Template", "TemplateConfig", "TemplateSearch"]
