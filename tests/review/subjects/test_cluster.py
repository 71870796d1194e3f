"""Another cluster."""

from typing import Any

from review.subjects import cluster
from tests.support.reviews import created, made, review, same, told, updated


def provider(context: str, kubeconfig: str = "x") -> Any:
    """Return the provider."""
    return made("pulumi:providers:kubernetes", {"context": context, "kubeconfig": kubeconfig}, "cluster")


def test_the_cluster() -> None:
    """Prevents a stack that is moved to another cluster by one line of its settings."""
    assert told(cluster.find, review(updated(provider("a"), provider("b")))) == [
        "! provider cluster changes: context b (was a)"
    ]
    assert told(cluster.find, review(updated(provider("a"), provider("a", "y")))) == [
        "! provider cluster changes: another kubeconfig"
    ]
    assert told(cluster.find, review(created(provider("a")))) == []
    assert told(cluster.find, review(same(provider("a")))) == []
