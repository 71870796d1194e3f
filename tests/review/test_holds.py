"""What keeps an object that an update wants to delete."""

from dataclasses import replace
from typing import Any

from review.model import Change, Op, Resource
from review.subjects import data
from tests.review.subjects.test_data import CLAIM, SPACE, VOLUME
from tests.support.reviews import created, deleted, made, review, same, told

STANDS = "the update will stand at 1 "
TIMEOUT = " until its timeout, and leave what it deletes Terminating: a "


def deployment(claim: str, name: str = "d") -> Resource:
    """Return what mounts a claim."""
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": claim}}
    spec = {"template": {"spec": {"containers": [{"name": "c"}], "volumes": [volume]}}}
    return made("apps/v1:Deployment", {"metadata": {"name": name, "namespace": "a"}, "spec": spec})


def held(*changes: Change, **more: Any) -> list[str]:
    """Return what is said of a stand, with its details."""
    lines = told(data.find, review(*changes, **more))
    first = next((index for index, line in enumerate(lines) if STANDS in line or "finalizers" in line), len(lines))
    return [lines[first], *(line for line in lines[first + 1 :] if line.startswith("  "))] if lines[first:] else []


def test_a_volume_waits_for_its_claim() -> None:
    """Prevents an update that stands for minutes without a word, approved as one of any object."""
    said = [
        f"! {STANDS}volume{TIMEOUT}volume goes when its claim is gone (pv-protection), and the claim stays",
        "  PersistentVolume pv is kept by claim a/claim",
        "  to get past it: take claim and volume off in one update, and declare them anew in the next; or, once no pod "
        "mounts the claim, kubectl delete pvc claim -n a, and ./hpc up --stack test again",
    ]
    moved = Change(Op.REPLACE, VOLUME, VOLUME, ("spec.csi",))
    assert held(moved, same(CLAIM)) == said
    assert held(deleted(VOLUME), Change(Op.FORGET, CLAIM, None)) == said
    referred = replace(VOLUME, inputs={**VOLUME.inputs, "spec": {"claimRef": {"namespace": "a", "name": "claim"}}})
    assert held(deleted(replace(referred, live={"status": {"phase": "Bound"}}))) == said


def test_a_volume_that_nothing_keeps() -> None:
    """Prevents an alarm for a volume that goes with its claim, or whose claim was never bound."""
    waits = replace(CLAIM, live={"status": {"phase": "Pending"}})
    assert held(deleted(VOLUME), deleted(CLAIM)) == []
    assert held(deleted(VOLUME), same(waits)) == []
    assert held(deleted(VOLUME)) == []
    assert held(deleted(VOLUME), same(CLAIM), deleted(SPACE)) == []
    assert held(Change(Op.FORGET, VOLUME, None), same(CLAIM)) == []
    assert held(deleted(VOLUME), same(CLAIM), drift=True) == []


def test_a_claim_waits_for_pods() -> None:
    """Prevents the same where jobs that go on mount what an update takes away."""
    assert held(deleted(CLAIM), same(deployment("claim"))) == [
        f"! {STANDS}claim{TIMEOUT}claim goes when no pod mounts it any more (pvc-protection), and some do",
        "  PersistentVolumeClaim a/claim is kept by pods of Deployment a/d",
        "  to get past it: end what mounts the claim first, in an update of its own",
    ]
    ended = replace(deployment("claim"), live={"status": {"conditions": [{"type": "Complete", "status": "True"}]}})
    for other in (same(deployment("other")), deleted(deployment("claim")), created(deployment("claim")), same(ended)):
        assert held(deleted(CLAIM), other) == []


def test_a_namespace_waits_for_finalizers() -> None:
    """Prevents a namespace that is Terminating for ever because the operator behind a finalizer has gone first."""
    live = {"metadata": {"finalizers": ["kubernetes.io/pvc-protection", "x.example/cleanup"]}}
    inside = made("x.example/v1:X", {"metadata": {"name": "x", "namespace": "a"}}, live=live)
    assert held(deleted(SPACE), deleted(inside)) == [
        "! the end of 1 namespace waits until finalizers in it are taken away",
        "  Namespace a is kept by finalizer x.example/cleanup",
        "  whoever set them has to run until then: an operator that goes as well goes later",
    ]
    assert held(deleted(SPACE), deleted(CLAIM)) == []
