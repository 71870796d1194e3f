"""Asking the engine for a review: what an update would change, and what on the cluster is not as declared."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cli import identity, passphrases, session
from cli.engine import Engine
from cli.errors import Problem
from cli.policy_configuration import policy_arguments
from cli.reviewing import facts, findings
from cli.stack import Stack
from review import drift as drifts
from review import events
from review.model import Review
from review.words import count, name, said

_PLUGIN = re.compile(r"using pulumi-\S+ from \$PATH")
_PASSPHRASE = re.compile(r"incorrect passphrase|PULUMI_CONFIG_PASSPHRASE|passphrase must be set")
_KILLED = "the engine was killed (signal {})"


def preview(wanted: Stack, running: Engine, policies: Mapping[str, Any], plan: Path | None = None) -> Review:
    """Preview an update with the policies; write the engine's plan of it to `plan`."""
    planned = ["--save-plan", str(plan)] if plan else []
    with policy_arguments(policies) as arguments:
        status, log, last = running.told(f"preview of stack {wanted.name}", "preview", *arguments, *planned)
    found = events.read(log, wanted.name, trouble=_trouble(status, last))
    return _remedied(replace(findings.compared(found, policies), facts=facts.of(wanted.settings)))


def drift(wanted: Stack, running: Engine) -> Review:
    """Compare what is declared with what is on the cluster; nothing is changed, in the state neither."""
    status, log, last = running.told(f"looking at stack {wanted.name}", "refresh", "--preview-only")
    found = drifts.read(log, wanted.name, trouble=_trouble(status, last))
    return _remedied(replace(found, facts=facts.of(wanted.settings)))


def ahead(wanted: Stack, running: Engine) -> tuple[str, ...]:
    """Return a sentence where the settings, or the program, declare what no update has made yet."""
    status, log, last = running.told(f"what stack {wanted.name} declares", "preview")
    found = events.read(log, wanted.name, trouble=_trouble(status, last))
    how = f"{name(f'./hpc diff {wanted.options}')} shows it."
    if found.failed:
        return (f"Whether the settings declare more than the last update made cannot be told: {said(found.failed)}",)
    objects = [change for change in found.changed if change.resource.is_object]
    if not objects:
        return ()
    return (f"The settings declare what no update has made yet ({count(len(objects), 'object')}); {how}",)


def unanswered(wanted: Stack, running: Engine) -> Problem | None:
    """Return why a real cluster cannot be asked, or None. Raises Problem where it is not the stack's own."""
    try:
        identity.require(wanted, session.cluster(wanted), wanted.backend, running)
    except identity.ForeignClusterError:
        raise
    except Problem as problem:
        if wanted.simulated:
            raise
        return problem
    return None


def _trouble(status: int, last: str) -> str:
    if status < 0:
        return _KILLED.format(-status)
    return "\n".join(line for line in last.splitlines() if not _PLUGIN.search(line)) if status else ""


def _remedied(found: Review) -> Review:
    """Add what to do about an error whose words are the engine's alone."""
    if not _PASSPHRASE.search(found.failed):
        return found
    remedy = f"Correct {passphrases.PASSPHRASE}, or the file that {passphrases.FILE} names."
    return replace(found, failed=f"{found.failed}\n{remedy}")
