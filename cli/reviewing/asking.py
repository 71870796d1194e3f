"""Asking the engine for a review: what an update would change, and what on the cluster is not as declared."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cli.engine import Engine
from cli.policy_configuration import policy_arguments
from cli.reviewing import facts, findings
from cli.stack import Stack
from review import drift as drifts
from review import events
from review.model import Review

_KILLED = "the engine was killed (signal {})"


def preview(wanted: Stack, running: Engine, policies: Mapping[str, Any], plan: Path | None = None) -> Review:
    """Preview an update with the policies; write the engine's plan of it to `plan`."""
    planned = ["--save-plan", str(plan)] if plan else []
    with policy_arguments(policies) as arguments:
        status, log, last = running.told(f"preview of stack {wanted.name}", "preview", *arguments, *planned)
    found = events.read(log, wanted.name, trouble=_trouble(status, last))
    return replace(findings.compared(found, policies), facts=facts.of(wanted.settings))


def drift(wanted: Stack, running: Engine) -> Review:
    """Compare what is declared with what is on the cluster; nothing is changed, in the state neither."""
    status, log, last = running.told(f"looking at stack {wanted.name}", "refresh", "--preview-only")
    found = drifts.read(log, wanted.name, trouble=_trouble(status, last))
    return replace(found, facts=facts.of(wanted.settings))


def _trouble(status: int, last: str) -> str:
    if status < 0:
        return _KILLED.format(-status)
    return last if status else ""
