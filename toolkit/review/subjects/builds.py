"""Image builds that run, run again, or wait until they are started manually."""

from core.apis.kinds import BUILD_CONFIG
from policies.manifests.values import entries, read
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Change, Op
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import name
from toolkit.review.titles import title


def find(indexed: IndexedReview) -> Section | None:
    """Report which builds run."""
    if indexed.review.drift:
        return None
    lines = [line for change in indexed.changed(BUILD_CONFIG) if (line := _line(change)) is not None]
    return section("Image builds", lines)


def _line(change: Change) -> Line | None:
    before, after = (resource.inputs if resource else {} for resource in (change.before, change.after))
    where = read(after, "spec", "output", "to", "name") or read(before, "spec", "output", "to", "name")
    text = f"{title(change.resource)}{f', which makes {name(where)},' if where else ''}"
    if change.op is Op.DELETE:
        return Line(f"{text} is deleted; images that it made stay while their ImageStream does")
    if change.op in (Op.CREATE, Op.REPLACE):
        at_once = any(read(trigger, "type") == "ConfigChange" for trigger in entries(after, "spec", "triggers"))
        again = " again" if change.op is Op.REPLACE else ""
        return Line(f"{text} runs{again} at once" if at_once else f"{text} waits until it is started manually")
    if change.op is Op.UPDATE and read(before, "spec") != read(after, "spec"):
        return Line(f"{text} changes: the next build uses it, and OpenShift starts none by itself")
    return None
