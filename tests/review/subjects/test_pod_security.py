"""Pod Security labels."""

from typing import Any

from review.subjects import pod_security
from tests.support.reviews import created, deleted, made, review, told, updated

LEVEL = "pod-security.kubernetes.io/"


def space(**labels: str) -> Any:
    """Return a namespace with levels by mode."""
    return made(
        "core/v1:Namespace", {"metadata": {"name": "a", "labels": {f"{LEVEL}{key}": labels[key] for key in labels}}}
    )


def test_levels() -> None:
    """Prevents a namespace that is opened to privileged pods by one label."""
    restricted, privileged = space(enforce="restricted"), space(enforce="privileged", audit="restricted")
    assert told(pod_security.find, review(created(privileged))) == [
        "namespace a is new and enforces privileged (audits and warns at restricted)"
    ]
    assert told(pod_security.find, review(updated(restricted, privileged))) == [
        "! namespace a enforces privileged (was restricted); audits restricted (was nothing)"
    ]
    assert told(pod_security.find, review(updated(privileged, restricted))) == [
        "namespace a enforces restricted (was privileged); audits nothing (was restricted)"
    ]
    assert told(pod_security.find, review(deleted(privileged))) == []


def test_namespaces_without_sccs() -> None:
    """Prevents a run level by which no SCC counts any more."""
    free = made("core/v1:Namespace", {"metadata": {"name": "a", "labels": {"openshift.io/run-level": "0"}}})
    assert told(pod_security.find, review(updated(space(), free))) == [
        "! namespace a has run level 0; admits pods without asking any SCC"
    ]
