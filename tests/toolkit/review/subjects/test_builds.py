"""Image builds."""

from typing import Any

from tests.support.messages import like
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
    assert reported(builds.find, review(created(build()))) == [like("BuildConfig a/t ... t:1 ... runs at once")]
    assert reported(builds.find, review(created(build(at_once=False)))) == [
        like("BuildConfig a/t ... t:1 ... manually")
    ]
    assert reported(builds.find, review(Change(Op.REPLACE, build(), build("b:2")))) == [
        like("BuildConfig a/t ... t:1 ... again at once")
    ]
    assert reported(builds.find, review(updated(build(), build("b:2")))) == [
        like("BuildConfig a/t ... t:1 ... changes ... next build ... none by itself")
    ]
    assert reported(builds.find, review(deleted(build()))) == [
        like("BuildConfig a/t ... t:1 ... deleted ... images ... stay")
    ]
    assert reported(builds.find, review(same(build()))) == []
