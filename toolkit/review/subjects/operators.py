"""Operators that come, go, or follow another channel: what OLM does then, and what that does to nodes and jobs."""

from collections.abc import Iterator
from typing import Any

from core.apis.kinds import SUBSCRIPTION
from core.apis.operators import OPERATORS
from core.wording import plural
from policies.manifests.values import read
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Change, Op, Resource
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import name
from toolkit.review.subjects.restarts import interrupted_jobs

_FIELDS = {
    "name": "package",
    "channel": "channel",
    "startingCSV": "first version",
    "source": "catalogue",
    "sourceNamespace": "namespace of the catalogue",
    "installPlanApproval": "approval of updates",
}
_UPGRADING = ("name", "channel", "source", "sourceNamespace")
"""Fields by which OLM comes to another version of what is installed; it reads the first version never again."""
_ENDS = (Op.DELETE, Op.REPLACE)


def find(indexed: IndexedReview) -> Section | None:
    """Report which operators change."""
    lines = [line for change in indexed.changed(SUBSCRIPTION) if (line := _line(change, indexed)) is not None]
    lines += _removed(indexed)
    return section("Operators", lines, vital=any(line.alarm for line in lines))


def _removed(indexed: IndexedReview) -> Iterator[Line]:
    for instance in (operator.instance for operator in OPERATORS.values()):
        if instance is None or not instance.removal:
            continue
        for change in indexed.changed(instance.kind):
            if change.op in _ENDS and change.before and not change.before.retain_on_delete:
                yield Line(f"{name(instance.kind.kind)} is deleted: {instance.removal}", alarm=True)


def _line(change: Change, indexed: IndexedReview) -> Line | None:
    package = _text(change.resource, "name") or change.resource.object_name
    subject = f"{name(package)} in namespace {name(change.resource.namespace)}"
    if change.before is None and change.after:
        manual = ", updates wait for approval" if _text(change.after, "installPlanApproval") == "Manual" else ""
        return Line(f"{subject} is installed from channel {name(_text(change.after, 'channel'))}{manual}")
    if change.op is Op.DELETE:
        return Line(f"{subject} is no longer subscribed to; what OLM installed stays until its version is deleted")
    if change.before is None or change.after is None:
        return None
    field_changes = []
    for field, words in _FIELDS.items():
        old, new = _text(change.before, field), _text(change.after, field)
        if old != new:
            field_changes.append(f"{words} {_shown(new)} (was {_shown(old)})")
    if [field for field in _FIELDS if _text(change.before, field) != _text(change.after, field)] == ["startingCSV"]:
        field_changes.append("which OLM reads at the first installation alone")
    again = ", and is subscribed to again" if change.op is Op.REPLACE else ""
    if not field_changes:
        return None
    details = () if indexed.review.drift else tuple(_follows(change.before, change.after, package, indexed))
    return Line(f"{subject}: {', '.join(field_changes)}{again}", details, alarm=bool(details))


def _follows(before: Resource, after: Resource, package: str, indexed: IndexedReview) -> Iterator[str]:
    """Yield what OLM, the operator and its operands do; nothing where the change leads to no other version."""
    manual = _text(after, "installPlanApproval") == "Manual"
    upgrades = any(_text(before, field) != _text(after, field) for field in _UPGRADING)
    released = not manual and _text(before, "installPlanApproval") == "Manual"
    if not upgrades and not released:
        return
    if manual:
        yield "OLM waits until the install plan is approved (approval Manual); what is below follows then"
    elif upgrades:
        yield "OLM upgrades the operator at once, as far as the channel goes (approval Automatic)"
    else:
        yield "OLM installs at once what has waited for approval, and from now on every new version"
    yield "the operator starts again in its new version, and brings what it runs to the version that this one has"
    for operator in OPERATORS.values():
        if operator.package == package:
            yield operator.upgrade.consequence.format(nodes=_nodes(operator.upgrade.nodes, indexed))
            if operator.upgrade.jobs:
                yield interrupted_jobs(indexed)


def _nodes(which: str, indexed: IndexedReview) -> str:
    nodes = indexed.facts.nodes
    by_device = {"GPUs": [node for node in nodes if node.gpus], "RDMA devices": [node for node in nodes if node.rdma]}
    if which not in by_device:
        return which
    matching = by_device[which]
    return f"{plural(len(matching), 'node')} with {which}" if matching else f"every node with {which}"


def _text(resource: Resource, field: str) -> str:
    value: Any = read(resource.inputs, "spec", field)
    return "" if value is None else str(value)


def _shown(text: str) -> str:
    return name(text) if text else "none"
