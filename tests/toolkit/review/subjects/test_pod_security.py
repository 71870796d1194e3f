"""Pod Security labels."""

from typing import Any

from tests.support.messages import like
from tests.support.reviews import created, deleted, made, reported, review, updated
from toolkit.review.subjects import pod_security

LEVEL = "pod-security.kubernetes.io/"


def space(**labels: str) -> Any:
    """Return a namespace with levels by mode."""
    return made(
        "core/v1:Namespace", {"metadata": {"name": "a", "labels": {f"{LEVEL}{key}": labels[key] for key in labels}}}
    )


def test_levels() -> None:
    """A lower Pod Security level is an alarm."""
    restricted, privileged = space(enforce="restricted"), space(enforce="privileged", audit="restricted")
    assert reported(pod_security.find, review(created(privileged))) == [
        like("new namespace a: enforces privileged ... audits and warns at restricted")
    ]
    assert reported(pod_security.find, review(updated(restricted, privileged))) == [
        like("! namespace a: enforces privileged (was restricted) ... audits restricted (was nothing)")
    ]
    assert reported(pod_security.find, review(updated(privileged, restricted))) == [
        like("namespace a: enforces restricted (was privileged) ... audits nothing (was restricted)")
    ]
    assert reported(pod_security.find, review(deleted(privileged))) == []


def test_namespaces_without_sccs() -> None:
    """A run level without SCC admission is an alarm."""
    free = made("core/v1:Namespace", {"metadata": {"name": "a", "labels": {"openshift.io/run-level": "0"}}})
    assert reported(pod_security.find, review(updated(space(), free))) == [
        like("! namespace a ... run level 0 ... without asking any SCC")
    ]
