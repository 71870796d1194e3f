"""Another cluster."""

from typing import Any

from tests.support.reviews import created, made, reported, review, same, updated
from toolkit.review.subjects import cluster


def provider(context: str, kubeconfig: str = "x") -> Any:
    """Return the provider."""
    return made("pulumi:providers:kubernetes", {"context": context, "kubeconfig": kubeconfig}, "cluster")


def test_the_cluster() -> None:
    """Another cluster in the provider is an alarm."""
    assert reported(cluster.find, review(updated(provider("a"), provider("b")))) == [
        "! provider cluster changes: context b (was a)"
    ]
    assert reported(cluster.find, review(updated(provider("a"), provider("a", "y")))) == [
        "! provider cluster changes: another kubeconfig"
    ]
    assert reported(cluster.find, review(created(provider("a")))) == []
    assert reported(cluster.find, review(same(provider("a")))) == []
