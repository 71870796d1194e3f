"""Images."""

from typing import Any

from tests.support.messages import like
from tests.support.reviews import created, deleted, made, reported, review, same, updated
from toolkit.review.model import Change, Op
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


def build(base: str = "b:1", *, at_once: bool = True) -> Any:
    """Return a BuildConfig."""
    spec = {
        "output": {"to": {"name": "t:1"}},
        "strategy": {"dockerStrategy": {"from": {"name": base}}},
        "triggers": [{"type": "ConfigChange"}] if at_once else [],
    }
    return made("build.openshift.io/v1:BuildConfig", {"metadata": {"name": "t", "namespace": "a"}, "spec": spec})


def test_builds() -> None:
    """A changed build reports whether it starts, and what uses it."""
    assert reported(images.find_builds, review(created(build()))) == [like("BuildConfig a/t ... t:1 ... runs at once")]
    assert reported(images.find_builds, review(created(build(at_once=False)))) == [
        like("BuildConfig a/t ... t:1 ... manually")
    ]
    assert reported(images.find_builds, review(Change(Op.REPLACE, build(), build("b:2")))) == [
        like("BuildConfig a/t ... t:1 ... again at once")
    ]
    assert reported(images.find_builds, review(updated(build(), build("b:2")))) == [
        like("BuildConfig a/t ... t:1 ... changes ... next build ... none by itself")
    ]
    assert reported(images.find_builds, review(deleted(build()))) == [
        like("BuildConfig a/t ... t:1 ... deleted ... images ... stay")
    ]
    assert reported(images.find_builds, review(same(build()))) == []
