"""A search for the unknown parts of a form: the default search fills each in turn."""

from edhie.search.forms.search import FormConfig, FormSearch

__all__ = ["FormConfig", "FormSearch"]
