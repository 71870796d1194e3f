"""Operators."""

from typing import Any

from review.subjects import operators
from tests.support.reviews import created, deleted, made, review, same, told, updated


def operator(channel: str, **more: Any) -> Any:
    """Return a subscription."""
    spec = {"name": "gpu", "channel": channel, **more}
    return made(
        "operators.coreos.com/v1alpha1:Subscription", {"metadata": {"name": "s", "namespace": "o"}, "spec": spec}
    )


def test_operators() -> None:
    """Prevents an operator of another version by one word in a diff."""
    assert told(operators.find, review(created(operator("v1", installPlanApproval="Manual")))) == [
        "gpu in namespace o is installed from channel v1, updates wait for approval"
    ]
    assert told(operators.find, review(updated(operator("v1"), operator("v2", startingCSV="gpu.v2.1")))) == [
        "gpu in namespace o: channel v2 (was v1), first version gpu.v2.1 (was none)"
    ]
    assert told(operators.find, review(deleted(operator("v1")))) == [
        "gpu in namespace o is no longer subscribed to; what OLM installed stays until its version is deleted"
    ]
    assert told(operators.find, review(same(operator("v1")))) == []
