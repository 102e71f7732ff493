"""Answers of the workshop: functions from plain data to plain data, ready for JSON."""
