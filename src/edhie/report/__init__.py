"""What was found as one page of HTML that needs nothing else: to be read, printed, sent."""

from edhie.report.page import write_report

__all__ = ["write_report"]
