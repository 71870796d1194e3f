"""Image builds."""

from typing import Any

from tests.support.reviews import created, deleted, made, reported, review, same, updated
from toolkit.review.model import Change, Op
from toolkit.review.subjects import builds


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
    assert reported(builds.find, review(created(build()))) == ["BuildConfig a/t, which makes t:1, runs at once"]
    assert reported(builds.find, review(created(build(at_once=False)))) == [
        "BuildConfig a/t, which makes t:1, waits until it is started manually"
    ]
    assert reported(builds.find, review(Change(Op.REPLACE, build(), build("b:2")))) == [
        "BuildConfig a/t, which makes t:1, runs again at once"
    ]
    assert reported(builds.find, review(updated(build(), build("b:2")))) == [
        "BuildConfig a/t, which makes t:1, changes: the next build uses it, and OpenShift starts none by itself"
    ]
    assert reported(builds.find, review(deleted(build()))) == [
        "BuildConfig a/t, which makes t:1, is deleted; images that it made stay while their ImageStream does"
    ]
    assert reported(builds.find, review(same(build()))) == []
