"""Data, credentials and protected objects that end."""

from dataclasses import replace

from tests.support.review_objects import CLAIM, SPACE, VOLUME
from tests.support.reviews import created, deleted, made, reported, review, same
from toolkit.review.model import Change, Op
from toolkit.review.subjects import data

DYNAMIC = made(
    "core/v1:PersistentVolumeClaim", {"metadata": {"name": "dyn", "namespace": "a"}, "spec": {"storageClassName": "s"}}
)
CLASS = made("storage.k8s.io/v1:StorageClass", {"metadata": {"name": "s"}, "reclaimPolicy": "Delete"})


def test_a_claim_says_what_becomes_of_its_data() -> None:
    """The loss of data with an object is an alarm with its reason."""
    assert reported(data.find, review(same(VOLUME), same(CLASS), deleted(CLAIM), deleted(DYNAMIC))) == [
        "! PersistentVolumeClaim a/claim is deleted: the data stays, as PersistentVolume pv says Retain, "
        "and is not bound again by itself",
        "! PersistentVolumeClaim a/dyn is deleted: the data is deleted with it, as StorageClass s says Delete",
    ]


def test_a_namespace_takes_its_claims_along() -> None:
    """A retained claim in a namespace that is deleted is an alarm."""
    kept = replace(DYNAMIC, retain_on_delete=True)
    found = review(same(CLASS), deleted(SPACE), Change(Op.FORGET, kept, None))
    assert reported(data.find, found) == [
        "! Namespace a is deleted: all that is in it is deleted with it, also what the stack did not make; "
        "1 claim with it, whatever is set to stay "
        "(claim dyn: the data is deleted with it, as StorageClass s says Delete)",
        "! PersistentVolumeClaim a/dyn is forgotten: it is set to stay on the cluster, and is deleted with its "
        "namespace nevertheless",
    ]


def test_protected_objects_are_refused() -> None:
    """The deletion of a protected object is an alarm."""
    found = reported(data.find, review(Change(Op.REPLACE, replace(VOLUME, protect=True), VOLUME, ("spec.csi",))))
    assert found == [
        "! the engine refuses to delete or replace 1 protected object until the protection is removed",
        "! protected PersistentVolume pv is replaced (for spec.csi): its reclaim policy is Retain: "
        "the files stay on Spectrum Scale, and no claim finds it any more",
        "! 1 object no longer protected from deletion: pv",
    ]


def test_protection_that_goes_is_reported() -> None:
    """A protection that is removed is an alarm."""
    before = replace(VOLUME, protect=True, retain_on_delete=True)
    assert reported(data.find, review(Change(Op.SAME, before, VOLUME))) == [
        "! 1 object no longer protected from deletion: pv",
        "! No longer retained on the cluster when removed from the stack: pv",
    ]


def test_nothing_ends() -> None:
    """New objects with data are not an alarm."""
    assert reported(data.find, review(created(VOLUME), same(CLAIM), deleted(made("x/v1:X", {})))) == []
