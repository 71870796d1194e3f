"""Claims of a class of the cluster."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.storage.claim import Claim, ClaimArgs
from tests.support.declared import Manifest, declared, faults, only
from tests.support.recorded import component, only_object

ARGS: dict[str, Any] = {"claim_name": "a2d2", "storage_class": "lustre", "capacity": "10Ti"}


def claim(**changed: Any) -> Manifest:
    """Return the claim."""
    args = ClaimArgs.model_validate({**ARGS, **changed})
    found = declared(lambda: Claim("data", args, "adas"))
    assert faults(found) == []
    return only(found, "PersistentVolumeClaim")


def test_it_names_its_class_and_suits_pods_on_several_nodes() -> None:
    """A claim names its class, and pods of several nodes can mount it."""
    found = claim()
    assert (found["metadata"]["namespace"], found["metadata"]["name"]) == ("adas", "a2d2")
    assert found["spec"] == {
        "storageClassName": "lustre",
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "10Ti"}},
    }


def test_waiting_is_left_to_the_provider_which_knows_the_class() -> None:
    """By default the provider decides how to wait, by the class's binding mode."""
    assert "annotations" not in claim()["metadata"]


def test_a_slow_class_may_have_its_time() -> None:
    """bind_timeout extends the wait beyond the provider's five minutes."""
    assert claim(bind_timeout=3600)["metadata"]["annotations"] == {
        "pulumi.com/waitFor": "jsonpath={.status.phase}=Bound",
        "pulumi.com/timeoutSeconds": "3600",
    }


@pytest.mark.parametrize("protect", [True, False])
def test_data_outlives_the_program_only_if_wanted(protect: bool) -> None:
    """Only with `protect` is the claim protected and retained."""
    args = ClaimArgs.model_validate({**ARGS, "protect": protect})
    made = only_object(component(lambda: Claim("data", args, "adas")), "PersistentVolumeClaim")
    assert (made.protect, made.retain_on_delete) == (protect, protect)


def test_a_volume_made_by_hand_is_bound_by_name() -> None:
    """An existing volume is bound by its name."""
    found = claim(storage_class="static", volume_name="a2d2-pv")
    assert (found["spec"]["storageClassName"], found["spec"]["volumeName"]) == ("static", "a2d2-pv")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"storage_class": "static"}, "static is not a class"),
        ({"storage_class": ""}, "storage_class"),
        ({"capacity": "10 TB"}, "capacity"),
        ({"access_mode": "ReadWriteAll"}, "access_mode"),
    ],
)
def test_claims_that_never_bind_are_refused(wrong: dict[str, Any], message: str) -> None:
    """A claim that no class or volume could fulfil is refused."""
    with pytest.raises(ValidationError, match=message):
        ClaimArgs.model_validate({**ARGS, **wrong})
