"""The report: one self-contained HTML page."""

from edhie.report.page import write_report

__all__ = ["write_report"]
