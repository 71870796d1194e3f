"""Verdicts as tables for people, and as JSON."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from rich.markup import escape
from rich.table import Table

from cli.console import console
from cli.scc.cluster import Explained
from policies.scc import NOT_USABLE


def as_json(explained: Explained) -> dict[str, Any]:
    """Return a verdict as plain data."""
    asked, verdict = explained.asked, explained.verdict
    return {
        "pod": asked.title,
        "namespace": asked.namespace.name,
        "serviceAccount": asked.account,
        "user": asked.user.name,
        "admitted": verdict.admitted,
        "scc": verdict.scc,
        "order": list(explained.order),
        "reasons": [{"scc": reason.scc, "message": reason.message} for reason in verdict.reasons],
        "message": verdict.message,
        "filledIn": dict(_added(asked.pod, verdict.pod)),
        "admittedPod": verdict.pod if verdict.admitted else None,
    }


def print_tables(explained: Explained) -> None:
    """Print what becomes of a pod: every SCC in the order tried, then what the SCC that took it has filled in."""
    asked, verdict = explained.asked, explained.verdict
    outcome = "[green]admitted[/]" if verdict.admitted else "[bold red]refused[/]"
    by = f" by [bold]{escape(verdict.scc)}[/]" if verdict.scc else ""
    console.print(
        f"{escape(asked.title)}: {outcome}{by} "
        f"(namespace {escape(asked.namespace.name)}, service account {escape(asked.account)}, "
        f"created by {escape(asked.user.name)})"
    )
    console.print(_tried(explained))
    if verdict.admitted:
        console.print(_filled(explained))
    else:
        console.print(verdict.message, markup=False)


def _tried(explained: Explained) -> Table:
    verdict = explained.verdict
    table = Table("", "SCC", "usable", "verdict", title="SCCs in the order tried", title_justify="left")
    refusals: dict[str, list[str]] = defaultdict(list)
    for reason in verdict.reasons:
        refusals[reason.scc].append(reason.message)
    for message in refusals[""]:
        table.add_row("", "(all)", "", escape(message))
    for place, name in enumerate(explained.order, start=1):
        usable = "no" if any(message.endswith(NOT_USABLE) for message in refusals[name]) else "yes"
        words = escape("\n".join(refusals[name]))
        if name == verdict.scc:
            words = "[green]admits it[/]"
        elif not words:
            usable, words = "", "not tried"
        table.add_row(str(place), escape(name), usable, words)
    return table


def _filled(explained: Explained) -> Table:
    table = Table("field", "value", title="filled in", title_justify="left")
    for path, value in _added(explained.asked.pod, explained.verdict.pod):
        table.add_row(escape(path), escape(str(value)))
    return table


def _added(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what `after` has beyond `before`, each value with its path."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key, value in after.items():
            yield from _added(before.get(key), value, f"{path}.{key}" if path else key)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _added(old, new, f"{path}[{index}]")
    elif isinstance(after, Mapping) and before is None and after:
        for key, value in after.items():
            yield from _added(None, value, f"{path}.{key}" if path else key)
    elif before != after and after not in ({}, None):
        yield path, after
