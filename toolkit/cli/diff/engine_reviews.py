"""Reviews by the engine: what an update would change, and how the cluster differs from the program."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.wording import plural
from toolkit.cli.diff import settings_facts
from toolkit.cli.diff.rendering_child import FIELDS
from toolkit.cli.shared import identity, session
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.environment import WRONG_PASSPHRASE
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.policy_configuration import policy_arguments
from toolkit.cli.shared.stack import Stack
from toolkit.review import drift as drifts
from toolkit.review import events, renders
from toolkit.review.model import Review
from toolkit.review.sentences import name, quoted

_PASSPHRASE = re.compile(r"incorrect passphrase|PULUMI_CONFIG_PASSPHRASE|passphrase must be set")


def preview(stack: Stack, running: Engine, policies: Mapping[str, Any], plan: Path | None = None) -> Review:
    """Preview an update with the policies; write the engine's plan of it to `plan`."""
    planned = ["--save-plan", str(plan)] if plan else []
    with policy_arguments(policies) as arguments:
        status, log, last = running.run_preview(f"preview of stack {stack.name}", "preview", *arguments, *planned)
    review = _with_kept(events.read(log, stack.name, trouble=_trouble(status, last)), stack)
    return _remedied(replace(_with_new(review, policies), facts=settings_facts.of(stack.settings)))


def _with_kept(review: Review, stack: Stack) -> Review:
    """Return a preview with what jobs with `on_change: keep` keep; the program is rendered where there are any."""
    components = (change.after for change in review.changes if change.after is not None and not change.after.is_object)
    if not any(component.inputs.get("on_change") == "keep" for component in components):
        return review
    from toolkit.render import manifests  # noqa: PLC0415 - imports Pulumi, which takes half a second

    program = manifests.registrations(stack.name)
    return renders.with_kept(
        review, (renders.read({field: getattr(registration, field) for field in FIELDS}) for registration in program)
    )


def _with_new(review: Review, policies: Mapping[str, Any]) -> Review:
    if not review.findings:
        return review
    from toolkit.cli.diff import policy_findings  # noqa: PLC0415 - imports the rules and Pulumi: a quarter of a second

    return policy_findings.compared(review, policies)


def drift(stack: Stack, running: Engine) -> Review:
    """Compare the program with the cluster; neither cluster nor state is changed."""
    status, log, last = running.run_preview(f"reading stack {stack.name}", "refresh", "--preview-only")
    review = drifts.read(log, stack.name, trouble=_trouble(status, last))
    return _remedied(replace(review, facts=settings_facts.of(stack.settings), kubectl=stack.kubectl))


def is_empty(stack: Stack) -> bool:
    """Whether the state has no resources yet, as far as it can be read here."""
    return stack.backend is not None and not stack.backend.checkpoint(stack.name).get("resources")


def drift_if_up(stack: Stack, running: Engine) -> Review | None:
    """Return what drifted; None where the state has no resources yet."""
    return None if is_empty(stack) else drift(stack, running)


def with_drift(review: Review, drifted: Review | None) -> Review:
    """Return the review of a preview with what drifted and with the cluster's objects, as far as they are known."""
    if drifted is None:
        return review
    failure = f"Not all drift could be determined: {drifted.failed}"
    warnings = (*review.warnings, *([failure] if drifted.failed else []))
    with_cluster = drifts.with_live(review, drifted)
    return replace(with_cluster, repairs=drifted.changed, kubectl=drifted.kubectl, warnings=tuple(sorted(warnings)))


def ahead(stack: Stack, running: Engine) -> tuple[str, ...]:
    """Return a sentence where the settings, or the program, declare what no update has made yet."""
    status, log, last = running.run_preview(f"what stack {stack.name} declares", "preview")
    review = events.read(log, stack.name, trouble=_trouble(status, last))
    how = f"{name(f'./hpc diff {stack.options}')} shows it."
    if review.failed:
        unknown = "Whether the settings declare more than the last update created could not be determined"
        return (f"{unknown}: {quoted(review.failed)}",)
    objects = [change for change in review.changed if change.resource.is_object]
    if not objects:
        return ()
    return (f"The settings declare what no update has created yet ({plural(len(objects), 'object')}); {how}",)


def unanswered(stack: Stack, running: Engine) -> Problem | None:
    """Return why a real cluster cannot be queried, or None. Raises Problem where it is not the stack's own."""
    try:
        identity.require(stack, session.cluster(stack), stack.backend, running)
    except identity.ForeignClusterError:
        raise
    except Problem as problem:
        if stack.simulated:
            raise
        return problem
    return None


def _trouble(status: int, last: str) -> str:
    if status < 0:
        return f"the engine was killed (signal {-status})"
    return "\n".join(line for line in last.splitlines() if not events.PLUGIN.search(line)) if status else ""


def _remedied(review: Review) -> Review:
    if not _PASSPHRASE.search(review.failed):
        return review
    return replace(review, failed=f"{review.failed}\n{WRONG_PASSPHRASE}")
