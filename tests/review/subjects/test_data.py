"""Data, credentials and protected objects that end."""

from dataclasses import replace

from review.model import Change, Op
from review.subjects import data
from tests.support.reviews import created, deleted, made, review, same, told

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
DYNAMIC = made(
    "core/v1:PersistentVolumeClaim", {"metadata": {"name": "dyn", "namespace": "a"}, "spec": {"storageClassName": "s"}}
)
CLASS = made("storage.k8s.io/v1:StorageClass", {"metadata": {"name": "s"}, "reclaimPolicy": "Delete"})
SPACE = made("core/v1:Namespace", {"metadata": {"name": "a"}})


def test_a_claim_says_what_becomes_of_its_data() -> None:
    """Prevents the loss of a volume that a reviewer took for an object like others."""
    assert told(data.find, review(same(VOLUME), same(CLASS), deleted(CLAIM), deleted(DYNAMIC))) == [
        "! PersistentVolumeClaim a/claim is deleted: the data stays, as PersistentVolume pv says Retain, "
        "and is not bound again by itself",
        "! PersistentVolumeClaim a/dyn is deleted: the data is deleted with it, as StorageClass s says Delete",
    ]


def test_a_namespace_takes_its_claims_along() -> None:
    """Prevents trust in retain_on_delete where the namespace goes."""
    kept = replace(DYNAMIC, retain_on_delete=True)
    found = review(same(CLASS), deleted(SPACE), Change(Op.FORGET, kept, None))
    assert told(data.find, found) == [
        "! Namespace a is deleted: all that is in it is deleted with it, also what the stack did not make; "
        "1 claim with it, whatever is set to stay "
        "(claim dyn: the data is deleted with it, as StorageClass s says Delete)",
        "! PersistentVolumeClaim a/dyn is forgotten: it is set to stay on the cluster, and goes with its namespace "
        "all the same",
    ]


def test_protected_objects_are_refused() -> None:
    """Prevents an update that ends half-way at a protected object."""
    found = told(data.find, review(Change(Op.REPLACE, replace(VOLUME, protect=True), VOLUME, ("spec.csi",))))
    assert found == [
        "! the engine refuses to delete or replace 1 protected object until somebody takes the protection away",
        "! protected PersistentVolume pv is replaced (for spec.csi): its reclaim policy is Retain: "
        "the files stay on Spectrum Scale, and no claim finds it any more",
        "! 1 object no longer protected from deletion: pv",
    ]


def test_protection_that_goes_is_told() -> None:
    """Prevents a protection that is lost in silence: the engine calls that no change."""
    before = replace(VOLUME, protect=True, retain_on_delete=True)
    assert told(data.find, review(Change(Op.SAME, before, VOLUME))) == [
        "! 1 object no longer protected from deletion: pv",
        "! No longer kept on the cluster when the stack lets go of it: pv",
    ]


def test_nothing_ends() -> None:
    """Prevents alarms for what comes."""
    assert told(data.find, review(created(VOLUME), same(CLAIM), deleted(made("x/v1:X", {})))) == []
