"""What was found, in the forms that people and machines read."""

from collections.abc import Callable, Mapping
from enum import StrEnum

from cli.checking.examination import Result
from cli.checking.reports import json, junit, sarif, text


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
