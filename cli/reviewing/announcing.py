"""What `./hpc up` would put right beside what changes, for those who review the change."""

from dataclasses import replace

from cli.engine import Engine
from cli.reviewing import asking
from cli.stack import Stack
from review.model import Review


def look(wanted: Stack, running: Engine) -> Review | None:
    """Look for drift; None where the state has nothing yet."""
    if wanted.backend is not None and not wanted.backend.checkpoint(wanted.name).get("resources"):
        return None
    return asking.drift(wanted, running)


def announced(review: Review, drift: Review | None) -> Review:
    """Return the review of a preview with what drifted, as far as that is known."""
    if drift is None:
        return review
    untold = f"What on the cluster is not as declared cannot be told of everything: {drift.failed}"
    warnings = (*review.warnings, *([untold] if drift.failed else []))
    return replace(review, repairs=drift.changed, warnings=tuple(sorted(warnings)))
