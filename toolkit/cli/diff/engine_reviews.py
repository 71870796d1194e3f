"""Reviews by the engine: what an update would change, and how the cluster differs from the program."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.wording import plural
from toolkit.cli.diff import settings_facts
from toolkit.cli.diff.rendering_child import FIELDS
from toolkit.cli.shared import identity, passphrases, session
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.policy_configuration import policy_arguments
from toolkit.cli.shared.stack import Stack
from toolkit.review import drift as drifts
from toolkit.review import events, renders
from toolkit.review.model import Review
from toolkit.review.sentences import name, quoted

_PASSPHRASE = re.compile(r"incorrect passphrase|PULUMI_CONFIG_PASSPHRASE|passphrase must be set")
_KILLED = "the engine was killed (signal {})"


def preview(wanted: Stack, running: Engine, policies: Mapping[str, Any], plan: Path | None = None) -> Review:
    """Preview an update with the policies; write the engine's plan of it to `plan`."""
    planned = ["--save-plan", str(plan)] if plan else []
    with policy_arguments(policies) as arguments:
        status, log, last = running.run_preview(f"preview of stack {wanted.name}", "preview", *arguments, *planned)
    found = _with_kept(events.read(log, wanted.name, trouble=_trouble(status, last)), wanted)
    return _remedied(replace(_with_new(found, policies), facts=settings_facts.of(wanted.settings)))


def _with_kept(found: Review, wanted: Stack) -> Review:
    """Return a preview with what jobs with `on_change: keep` keep; the program is rendered where there are any."""
    components = (each.after for each in found.changes if each.after is not None and not each.after.is_object)
    if not any(each.inputs.get("on_change") == "keep" for each in components):
        return found
    from toolkit.render import manifests  # noqa: PLC0415 - imports Pulumi, which takes half a second

    program = manifests.registrations(wanted.name)
    return renders.with_kept(
        found, (renders.read({field: getattr(each, field) for field in FIELDS}) for each in program)
    )


def _with_new(found: Review, policies: Mapping[str, Any]) -> Review:
    """Return a preview with what is new among its findings."""
    if not found.findings:
        return found
    from toolkit.cli.diff import policy_findings  # noqa: PLC0415 - imports the rules and Pulumi: a quarter of a second

    return policy_findings.compared(found, policies)


def drift(wanted: Stack, running: Engine) -> Review:
    """Compare the program with the cluster; neither cluster nor state is changed."""
    status, log, last = running.run_preview(f"reading stack {wanted.name}", "refresh", "--preview-only")
    found = drifts.read(log, wanted.name, trouble=_trouble(status, last))
    return _remedied(replace(found, facts=settings_facts.of(wanted.settings), kubectl=wanted.kubectl))


def is_empty(wanted: Stack) -> bool:
    """Whether the state has no resources yet, as far as it can be read here."""
    return wanted.backend is not None and not wanted.backend.checkpoint(wanted.name).get("resources")


def drift_if_up(wanted: Stack, running: Engine) -> Review | None:
    """Return what drifted; None where the state has no resources yet."""
    return None if is_empty(wanted) else drift(wanted, running)


def with_drift(review: Review, drifted: Review | None) -> Review:
    """Return the review of a preview with what drifted and with the cluster's objects, as far as they are known."""
    if drifted is None:
        return review
    failure = f"Not all drift could be determined: {drifted.failed}"
    warnings = (*review.warnings, *([failure] if drifted.failed else []))
    known = drifts.with_live(review, drifted)
    return replace(known, repairs=drifted.changed, kubectl=drifted.kubectl, warnings=tuple(sorted(warnings)))


def ahead(wanted: Stack, running: Engine) -> tuple[str, ...]:
    """Return a sentence where the settings, or the program, declare what no update has made yet."""
    status, log, last = running.run_preview(f"what stack {wanted.name} declares", "preview")
    found = events.read(log, wanted.name, trouble=_trouble(status, last))
    how = f"{name(f'./hpc diff {wanted.options}')} shows it."
    if found.failed:
        unknown = "Whether the settings declare more than the last update created could not be determined"
        return (f"{unknown}: {quoted(found.failed)}",)
    objects = [change for change in found.changed if change.resource.is_object]
    if not objects:
        return ()
    return (f"The settings declare what no update has created yet ({plural(len(objects), 'object')}); {how}",)


def unanswered(wanted: Stack, running: Engine) -> Problem | None:
    """Return why a real cluster cannot be queried, or None. Raises Problem where it is not the stack's own."""
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
    return "\n".join(line for line in last.splitlines() if not events.PLUGIN.search(line)) if status else ""


def _remedied(found: Review) -> Review:
    """Add what to do about an error whose message is the engine's."""
    if not _PASSPHRASE.search(found.failed):
        return found
    remedy = f"Correct {passphrases.PASSPHRASE}, or the file that {passphrases.FILE} names."
    return replace(found, failed=f"{found.failed}\n{remedy}")
