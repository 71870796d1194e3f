"""Images."""

from typing import Any

from tests.support.messages import like
from tests.support.reviews import created, deleted, made, reported, review, same, updated
from toolkit.review.subjects import images

DIGEST = "sha256:" + "a" * 64


def deployment(image: str, name: str = "d") -> Any:
    """Return a Deployment of one container."""
    spec = {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}
    return made("apps/v1:Deployment", {"metadata": {"name": name, "namespace": "a"}, "spec": spec})


def test_images() -> None:
    """An image that changes or is no longer pinned is reported."""
    assert reported(images.find, review(updated(deployment("q.io/a/b:1"), deployment("q.io/a/b:2")))) == [
        like("a/b: 2 (was 1) ... not pinned ... Deployment a/d")
    ]
    assert reported(images.find, review(updated(deployment(f"q.io/a/b@{DIGEST}"), deployment("q.io/a/b")))) == [
        f"! a/b: latest (was {DIGEST}), no longer pinned by digest, for Deployment a/d"
    ]
    assert reported(images.find, review(updated(deployment("q.io/a/b:1"), deployment(f"evil.io/a/b@{DIGEST}")))) == [
        f"evil.io/a/b@{DIGEST} (was q.io/a/b:1), pinned by digest, for Deployment a/d"
    ]
    assert reported(images.find, review(created(deployment("x:1")), created(deployment("x:1", "e")))) == [
        like("x:1 is new ... not pinned ... 2 objects"),
        "  Deployment a/d",
        "  Deployment a/e",
    ]
    assert reported(images.find, review(created(deployment("x:1")), same(deployment("x:1", "e")))) == []
    assert reported(images.find, review(deleted(deployment("x:1")))) == []
