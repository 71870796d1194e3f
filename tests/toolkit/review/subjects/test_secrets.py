"""Secrets."""

from typing import Any

from core.pulumi_values import REDACTED
from tests.support.messages import like
from tests.support.reviews import created, deleted, made, reported, review, same, updated
from toolkit.review import comment, terminal
from toolkit.review.model import CHANGED
from toolkit.review.subjects import secrets


def secret(**data: Any) -> Any:
    """Return a Secret."""
    return made("core/v1:Secret", {"metadata": {"name": "s", "namespace": "a"}, "stringData": data})


def test_secrets() -> None:
    """A changed secret is reported with the keys that differ."""
    assert reported(secrets.find, review(created(secret(user=REDACTED, key=REDACTED)))) == [
        like("Secret a/s is created ... key and user")
    ]
    assert reported(secrets.find, review(updated(secret(a=REDACTED, b=REDACTED), secret(b=CHANGED, c=REDACTED)))) == [
        like("Secret a/s is updated ... new: c ... gone: a ... another value: b")
    ]
    assert reported(secrets.find, review(deleted(secret(a=REDACTED)))) == ["Secret a/s is deleted, with a"]
    assert reported(secrets.find, review(same(secret(a=REDACTED)))) == []


def test_values_are_never_shown() -> None:
    """No value of a secret is in a review, marked as secret or not."""
    planted = review(updated(secret(a="planted-1"), secret(a="planted-2", b="planted-3")))
    assert "planted" not in comment.write(planted)
    assert "planted" not in terminal.write(planted)
    provider = made("pulumi:providers:kubernetes", {"kubeconfig": "planted", "context": "c"}, "cluster")
    assert "planted" not in comment.write(review(created(provider)))
