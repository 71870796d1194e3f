"""The forms of a report: text, JSON, SARIF and JUnit."""

from collections.abc import Callable, Mapping
from enum import StrEnum

from toolkit.cli.check.examination import Result
from toolkit.cli.check.reports import json, junit, sarif, text


class Format(StrEnum):
    """Form of a report."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"


REPORTS: Mapping[Format, Callable[[Result], str]] = {
    Format.TEXT: text.report,
    Format.JSON: json.report,
    Format.SARIF: sarif.report,
    Format.JUNIT: junit.report,
}
