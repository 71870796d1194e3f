"""Operators."""

from dataclasses import replace
from typing import Any

from core.apis.operators import OPERATORS
from tests.support.messages import like
from tests.support.reviews import created, deleted, made, reported, review, same, updated
from toolkit.review.cluster_facts import Facts, NodeFacts
from toolkit.review.subjects import operators
from toolkit.simulator.actors.packages import packages


def operator(channel: str, package: str = "gpu", **more: Any) -> Any:
    """Return a subscription."""
    spec = {"name": package, "channel": channel, **more}
    return made(
        "operators.coreos.com/v1alpha1:Subscription", {"metadata": {"name": "s", "namespace": "o"}, "spec": spec}
    )


def test_operators() -> None:
    """Another channel of an operator is reported."""
    assert reported(operators.find, review(created(operator("v1", installPlanApproval="Manual")))) == [
        like("gpu in namespace o is installed ... channel v1 ... wait for approval")
    ]
    assert reported(operators.find, review(updated(operator("v1"), operator("v2", startingCSV="gpu.v2.1")))) == [
        like("! gpu in namespace o ... channel v2 (was v1) ... gpu.v2.1 (was none)"),
        like("  OLM upgrades ... at once ... approval Automatic"),
        like("  the operator starts again ... version"),
    ]
    assert reported(operators.find, review(deleted(operator("v1")))) == [
        like("gpu in namespace o ... no longer subscribed ... stays until its version is deleted")
    ]
    assert reported(operators.find, review(same(operator("v1")))) == []


def test_what_follows_from_another_channel() -> None:
    """An operator's upgrade reports what it restarts on nodes."""
    nodes = (NodeFacts(name="a", gpus=8, rdma=("rdma/x",)), NodeFacts(name="b", gpus=8), NodeFacts(name="c"))
    gpu = "gpu-operator-certified"
    moved = updated(operator("v1", gpu), operator("v2", gpu))
    assert reported(operators.find, review(moved, facts=Facts(nodes=nodes))) == [
        like("! gpu-operator-certified in namespace o ... channel v2 (was v1)"),
        like("  OLM upgrades ... at once ... approval Automatic"),
        like("  the operator starts again ... version"),
        like("  GPU drivers and device plugins start again ... 2 nodes with GPUs ... lose their GPUs"),
        like("  no job ... known to run"),
    ]
    waits = updated(operator("v1", gpu), operator("v2", gpu, installPlanApproval="Manual"))
    assert reported(operators.find, review(waits))[1] == (like("  OLM waits ... approved (approval Manual)"))
    assert reported(operators.find, replace(review(moved), drift=True)) == [
        like("gpu-operator-certified in namespace o ... channel v2 (was v1)")
    ]


def test_what_leads_to_no_other_version() -> None:
    """Changes of a subscription other than of its channel are reported with their effect."""
    later = updated(operator("v1", startingCSV="gpu.v1.1"), operator("v1", startingCSV="gpu.v1.2"))
    assert reported(operators.find, review(later)) == [
        like("gpu in namespace o ... gpu.v1.2 (was gpu.v1.1) ... first installation alone")
    ]
    held, free = (operator("v1", installPlanApproval=approval) for approval in ("Manual", "Automatic"))
    assert reported(operators.find, review(updated(held, free)))[:2] == [
        like("! gpu in namespace o ... Automatic (was Manual)"),
        like("  OLM installs at once ... every new version"),
    ]
    assert len(reported(operators.find, review(updated(free, held)))) == 1


def test_the_platforms_own_operators() -> None:
    """An upgrade of each operator of the platform reports its consequences."""
    for package in packages():
        found = reported(operators.find, review(updated(operator("v1", package), operator("v2", package))))
        assert len(found) > 3, package


def test_what_an_operators_own_object_takes_with_it() -> None:
    """The deletion of the object by which an operator starts is reported with what goes with it."""
    for instance in (each.instance for each in OPERATORS.values() if each.instance and each.instance.removal):
        made_before = made(
            f"{instance.kind.api_version}:{instance.kind.kind}", {"metadata": {"name": "cluster"}, "spec": {}}
        )
        found = reported(operators.find, review(deleted(made_before)))
        assert found == [f"! {instance.kind.kind} is deleted: {instance.removal}"]
        assert reported(operators.find, review(same(made_before))) == []
