"""Data, credentials and protected objects that end."""

from dataclasses import replace
from typing import Any

from core.pulumi_values import REDACTED
from tests.support.messages import like
from tests.support.reviews import CLAIM, SPACE, VOLUME, created, deleted, made, reported, review, same, updated
from toolkit.review import comment, terminal
from toolkit.review.model import CHANGED, Change, Op
from toolkit.review.subjects import data

DYNAMIC = made(
    "core/v1:PersistentVolumeClaim", {"metadata": {"name": "dyn", "namespace": "a"}, "spec": {"storageClassName": "s"}}
)
CLASS = made("storage.k8s.io/v1:StorageClass", {"metadata": {"name": "s"}, "reclaimPolicy": "Delete"})


def test_a_claim_says_what_becomes_of_its_data() -> None:
    """The loss of data with an object is an alarm with its reason."""
    assert reported(data.find, review(same(VOLUME), same(CLASS), deleted(CLAIM), deleted(DYNAMIC))) == [
        like(
            "! PersistentVolumeClaim a/claim ... deleted ... data stays ... PersistentVolume pv ... Retain ... "
            "not bound again"
        ),
        like("! PersistentVolumeClaim a/dyn ... deleted ... data is deleted ... StorageClass s ... Delete"),
    ]


def test_a_namespace_takes_its_claims_along() -> None:
    """A retained claim in a namespace that is deleted is an alarm."""
    kept = replace(DYNAMIC, retain_on_delete=True)
    found = review(same(CLASS), deleted(SPACE), Change(Op.FORGET, kept, None))
    assert reported(data.find, found) == [
        like(
            "! Namespace a ... deleted ... also what the stack did not make ... 1 claim ... claim dyn ... "
            "deleted ... StorageClass s ... Delete"
        ),
        like("! PersistentVolumeClaim a/dyn ... forgotten ... set to stay ... deleted with its namespace"),
    ]


def test_protected_objects_are_refused() -> None:
    """The deletion of a protected object is an alarm."""
    found = reported(data.find, review(Change(Op.REPLACE, replace(VOLUME, protect=True), VOLUME, ("spec.csi",))))
    assert found == [
        like("! the engine refuses ... 1 protected object ... until the protection is removed"),
        like("! protected PersistentVolume pv ... replaced (for spec.csi) ... Retain ... files stay ... no claim"),
        like("! 1 object no longer protected ... pv"),
    ]


def test_protection_that_goes_is_reported() -> None:
    """A protection that is removed is an alarm."""
    before = replace(VOLUME, protect=True, retain_on_delete=True)
    assert reported(data.find, review(Change(Op.SAME, before, VOLUME))) == [
        like("! 1 object no longer protected ... pv"),
        like("! No longer retained ... pv"),
    ]


def test_nothing_ends() -> None:
    """New objects with data are not an alarm."""
    assert reported(data.find, review(created(VOLUME), same(CLAIM), deleted(made("x/v1:X", {})))) == []


def secret(**data: Any) -> Any:
    """Return a Secret."""
    return made("core/v1:Secret", {"metadata": {"name": "s", "namespace": "a"}, "stringData": data})


def test_secrets() -> None:
    """A changed secret is reported with the keys that differ."""
    assert reported(data.find_secrets, review(created(secret(user=REDACTED, key=REDACTED)))) == [
        like("Secret a/s is created ... key and user")
    ]
    assert reported(
        data.find_secrets, review(updated(secret(a=REDACTED, b=REDACTED), secret(b=CHANGED, c=REDACTED)))
    ) == [like("Secret a/s is updated ... new: c ... gone: a ... another value: b")]
    assert reported(data.find_secrets, review(deleted(secret(a=REDACTED)))) == ["Secret a/s is deleted, with a"]
    assert reported(data.find_secrets, review(same(secret(a=REDACTED)))) == []


def test_values_are_never_shown() -> None:
    """No value of a secret is in a review, marked as secret or not."""
    planted = review(updated(secret(a="planted-1"), secret(a="planted-2", b="planted-3")))
    assert "planted" not in comment.write(planted)
    assert "planted" not in terminal.write(planted)
    provider = made("pulumi:providers:kubernetes", {"kubeconfig": "planted", "context": "c"}, "cluster")
    assert "planted" not in comment.write(review(created(provider)))
