"""What keeps an object that an update wants to delete."""

from dataclasses import replace
from typing import Any

from tests.support.messages import like
from tests.support.reviews import CLAIM, SPACE, VOLUME, created, deleted, made, reported, review, same
from toolkit.review.model import Change, Op, Resource
from toolkit.review.subjects import data

STANDS = "the update will hang on 1 "
TIMEOUT = " until its timeout and leave what it deletes Terminating: a "


def deployment(claim: str, name: str = "d") -> Resource:
    """Return what mounts a claim."""
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": claim}}
    spec = {"template": {"spec": {"containers": [{"name": "c"}], "volumes": [volume]}}}
    return made("apps/v1:Deployment", {"metadata": {"name": name, "namespace": "a"}, "spec": spec})


def held(*changes: Change, **more: Any) -> list[str]:
    """Return what is said of a stand, with its details."""
    lines = reported(data.find, review(*changes, **more))
    first = next((index for index, line in enumerate(lines) if STANDS in line or "finalizers" in line), len(lines))
    return [lines[first], *(line for line in lines[first + 1 :] if line.startswith("  "))] if lines[first:] else []


def test_a_volume_waits_for_its_claim() -> None:
    """A volume whose claim stays is reported as blocking the update."""
    said = [
        f"! {STANDS}volume{TIMEOUT}volume is deleted after its claim (pv-protection), and the claim stays",
        "  PersistentVolume pv is blocked by claim a/claim",
        "  to unblock it: remove claim and volume in one update, and declare them again in the next; or, once no pod "
        "mounts the claim, kubectl delete pvc claim -n a, and ./hpc up --stack test again",
    ]
    moved = Change(Op.REPLACE, VOLUME, VOLUME, ("spec.csi",))
    assert held(moved, same(CLAIM)) == said
    assert held(deleted(VOLUME), Change(Op.FORGET, CLAIM, None)) == said
    referred = replace(VOLUME, inputs={**VOLUME.inputs, "spec": {"claimRef": {"namespace": "a", "name": "claim"}}})
    assert held(deleted(replace(referred, live={"status": {"phase": "Bound"}}))) == said


def test_a_volume_that_nothing_keeps() -> None:
    """A volume that is deleted with its claim, or whose claim was never bound, blocks nothing."""
    waits = replace(CLAIM, live={"status": {"phase": "Pending"}})
    assert held(deleted(VOLUME), deleted(CLAIM)) == []
    assert held(deleted(VOLUME), same(waits)) == []
    assert held(deleted(VOLUME)) == []
    assert held(deleted(VOLUME), same(CLAIM), deleted(SPACE)) == []
    assert held(Change(Op.FORGET, VOLUME, None), same(CLAIM)) == []
    assert held(deleted(VOLUME), same(CLAIM), drift=True) == []


def test_a_claim_waits_for_pods() -> None:
    """A claim that remaining jobs mount is reported as blocking the update."""
    assert held(deleted(CLAIM), same(deployment("claim"))) == [
        f"! {STANDS}claim{TIMEOUT}claim is deleted when no pod mounts it any more (pvc-protection), and some do",
        like("  PersistentVolumeClaim a/claim is blocked ... Deployment a/d"),
        like("  to unblock ... remove what mounts the claim first ... update of its own"),
    ]
    ended = replace(deployment("claim"), live={"status": {"conditions": [{"type": "Complete", "status": "True"}]}})
    for other in (same(deployment("other")), deleted(deployment("claim")), created(deployment("claim")), same(ended)):
        assert held(deleted(CLAIM), other) == []


def test_a_namespace_waits_for_finalizers() -> None:
    """Finalizers in a namespace that is deleted are reported."""
    live = {"metadata": {"finalizers": ["kubernetes.io/pvc-protection", "x.example/cleanup"]}}
    inside = made("x.example/v1:X", {"metadata": {"name": "x", "namespace": "a"}}, live=live)
    assert held(deleted(SPACE), deleted(inside)) == [
        like("! the deletion of 1 namespace waits ... finalizers"),
        like("  Namespace a is blocked ... finalizer x.example/cleanup"),
        like("  their owners ... remove ... later update"),
    ]
    assert held(deleted(SPACE), deleted(CLAIM)) == []
