"""What `./hpc verify` judges, and which of its options go with that."""

from collections.abc import Mapping
from enum import StrEnum

from toolkit.cli.shared.errors import Problem

_LOGS = ("profile", "layout", "transport", "fabric", "program", "node", "sharp")
_OF_LOGS = "the logs of a job; a stack has it in its settings"
_PLACES = {
    **dict.fromkeys(_LOGS, _OF_LOGS),
    "job": "the jobs of a stack",
    "wait": "jobs and nodes of a stack",
    "cordon": "--nodes of a stack",
    "yes": "--cordon",
    "alertmanager": "--history",
}
"""What an option is for, by its name; options that are not listed go with everything."""
_ADDED = {
    **dict.fromkeys(_LOGS, "Name logs"),
    "cordon": "Add --nodes, without files",
    "yes": "Add --cordon",
    "alertmanager": "Add --history",
}
"""What makes an option fit, where that is one thing."""


class Mode(StrEnum):
    """What is judged; the values begin a message."""

    JOBS = "these are the jobs of a stack"
    LOGS = "these are the logs of a job"
    NODES = "this is --nodes of a stack"
    NODES_OF_LOGS = "this is --nodes of logs"
    ROUNDS = "this is --history"


_TAKEN: Mapping[Mode, frozenset[str]] = {
    Mode.JOBS: frozenset({"job", "wait"}),
    Mode.LOGS: frozenset(_LOGS),
    Mode.NODES: frozenset({"wait", "cordon"}),
    Mode.NODES_OF_LOGS: frozenset(_LOGS),
    Mode.ROUNDS: frozenset({"alertmanager"}),
}


def chosen(*, logs: bool, nodes: bool, history: bool) -> Mode:
    """Return what is judged; raise Problem where two exclude each other."""
    if nodes and history:
        raise Problem("--nodes and --history exclude each other", "Leave one of them out.")
    if history:
        return Mode.ROUNDS
    if nodes:
        return Mode.NODES_OF_LOGS if logs else Mode.NODES
    return Mode.LOGS if logs else Mode.JOBS


def require_fitting(mode: Mode, options: Mapping[str, object]) -> None:
    """Raise Problem for the first option that is given, neither None nor false, and does not go with the mode."""
    given = [option for option, value in options.items() if value is not None and value is not False]
    for option in given:
        if option not in _TAKEN[mode] and not (option == "yes" and "cordon" in given):
            remedy = f"{_ADDED[option]}, or omit --{option}." if option in _ADDED else f"Omit --{option}."
            raise Problem(f"--{option} is for {_PLACES[option]}, and {mode}", remedy)
