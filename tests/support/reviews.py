"""Reviews of changed settings: what the program declares before and after an edit, compared as an engine would."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any

from stacks.loading import settings
from tests.support.recorded import ROOT, built, environment
from toolkit.cli.diff import settings_facts
from toolkit.render.recorder import Registration
from toolkit.review.cluster_facts import Facts
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Change, Op, Resource, Review
from toolkit.review.section import Section
from toolkit.review.sentences import bare

Edit = Callable[[dict[str, Any]], None]


def nothing(_: dict[str, Any]) -> None:
    """Leave the settings as they are."""


def reviewed(edit: Edit, stack: str = "prod", *, before: Edit = nothing) -> Review:
    """Return what changes when the settings of a stack, first edited by `before`, are edited."""
    old = _edited(stack, before)
    new = deepcopy(old)
    edit(new)
    facts = settings_facts.of(settings.parse(new, "test", stack))
    return compared(stack, _rendered(old, stack), _rendered(new, stack), facts)


def compared(
    stack: str, old: tuple[Registration, ...], new: tuple[Registration, ...], facts: Facts | None = None
) -> Review:
    """Return the change from one set of registrations to another."""
    sides = [{item.urn: item for item in side} for side in (old, new)]
    changes = [_change(sides[0].get(urn), sides[1].get(urn)) for urn in sorted({*sides[0], *sides[1]})]
    return Review(stack, tuple(changes), facts=facts or Facts())


def made(type_: str, inputs: Mapping[str, Any], name: str = "", **more: Any) -> Resource:
    """Return a resource, e.g. of `core/v1:Secret` or `hpc:tenants:Tenant`."""
    token = type_ if type_.startswith(("hpc:", "pulumi:")) else f"kubernetes:{type_}"
    metadata = inputs.get("metadata") or {}
    logical = name or "-".join(str(part) for part in (metadata.get("namespace"), metadata.get("name")) if part)
    return Resource(f"urn:pulumi:test::hpc::{token}::{logical}", token, inputs, **more)


def review(*changes: Change, **more: Any) -> Review:
    """Return a review of some changes."""
    return Review("test", tuple(sorted(changes, key=lambda change: change.resource.urn)), **more)


def created(resource: Resource) -> Change:
    """Return its creation."""
    return Change(Op.CREATE, None, resource)


def deleted(resource: Resource) -> Change:
    """Return its deletion."""
    return Change(Op.DELETE, resource, None)


def updated(before: Resource, after: Resource) -> Change:
    """Return its update."""
    return Change(Op.UPDATE, before, after)


def same(resource: Resource) -> Change:
    """Return that nothing becomes of it."""
    return Change(Op.SAME, resource, resource)


def reported(find: Callable[[IndexedReview], Section | None], review: Review) -> list[str]:
    """Return the lines of a subject's section, alarms with `! ` and details with two blanks before them."""
    section = find(IndexedReview(review))
    if section is None:
        return []
    lines = []
    for line in section.lines:
        lines.append(bare(f"{'! ' if line.alarm else ''}{line.text}"))
        lines += [bare(f"  {detail}") for detail in line.details]
    return lines


def _change(old: Registration | None, new: Registration | None) -> Change:
    before, after = (_resource(registration) if registration else None for registration in (old, new))
    if old is None or new is None:
        return Change(Op.DELETE if new is None else Op.CREATE, before, after)
    if before and after and new.ignore_changes:
        after = replace(
            after, inputs={**after.inputs, **{key: old.inputs[key] for key in new.ignore_changes if key in old.inputs}}
        )
    if before and after and before.inputs == after.inputs and old.replacement_trigger == new.replacement_trigger:
        return Change(Op.SAME, before, after)
    forced = tuple(
        key for key in new.replace_on_changes if "[" not in key and old.inputs.get(key) != new.inputs.get(key)
    )
    again = old.replacement_trigger != new.replacement_trigger
    return Change(Op.REPLACE if forced or again else Op.UPDATE, before, after, forced)


def _resource(item: Registration) -> Resource:
    return Resource(
        item.urn, item.type, item.inputs, item.parent, protect=item.protect, retain_on_delete=item.retain_on_delete
    )


def _edited(stack: str, edit: Edit) -> dict[str, Any]:
    content = deepcopy(_content(stack))
    edit(content)
    return content


@cache
def _content(stack: str) -> dict[str, Any]:
    content: dict[str, Any] = settings.whole(stack, ROOT).data
    return content


def _rendered(content: dict[str, Any], stack: str) -> tuple[Registration, ...]:
    return environment(stack) if content == _content(stack) else built(content, stack)


VOLUME = made(
    "core/v1:PersistentVolume",
    {
        "metadata": {"name": "pv"},
        "spec": {"csi": {"driver": "spectrumscale.csi.ibm.com"}, "persistentVolumeReclaimPolicy": "Retain"},
    },
)
CLAIM = made(
    "core/v1:PersistentVolumeClaim", {"metadata": {"name": "claim", "namespace": "a"}, "spec": {"volumeName": "pv"}}
)
SPACE = made("core/v1:Namespace", {"metadata": {"name": "a"}})


def job(gpus: int, device: str = "rdma/ib0", pods: int = 2) -> Resource:
    """Return an MPIJob."""
    container = {"name": "c", "resources": {"limits": {"nvidia.com/gpu": gpus, device: 1}}}
    worker = {"replicas": pods, "template": {"spec": {"containers": [container]}}}
    return made(
        "kubeflow.org/v2beta1:MPIJob",
        {"metadata": {"name": "j", "namespace": "a"}, "spec": {"mpiReplicaSpecs": {"Worker": worker}}},
    )
