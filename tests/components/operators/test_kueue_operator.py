"""Kueue as Red Hat's operator installs it."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.operators.kueue_operator import KueueOperator, KueueOperatorArgs, PodsReady
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only


def kueue(**changed: Any) -> Manifest:
    """Return the object."""
    args = KueueOperatorArgs.model_validate(changed)
    found = declared(lambda: KueueOperator("kueue", args))
    assert faults(found) == []
    return only(found, "Kueue")


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"pods_ready": {"admission": "Sequential"}, "unlabelled": "held", "frameworks": ("Pod", "MPIJob")},
        {"device_classes": {"nvidia.com/gpu": ("gpu.nvidia.com",)}},
    ],
)
def test_it_has_the_shape_of_its_definition(changed: dict[str, Any]) -> None:
    """The object matches its definition."""
    expect_conformity(kueue(**changed))


def test_jobs_and_mpi_jobs_are_managed_if_they_name_a_queue() -> None:
    """Jobs and MPIJobs are managed if they name a queue."""
    assert kueue()["spec"] == {
        "managementState": "Managed",
        "config": {
            "integrations": {"frameworks": ["BatchJob", "MPIJob"]},
            "workloadManagement": {"labelPolicy": "QueueName"},
        },
    }


def test_pods_that_are_not_ready_cost_a_job_its_place() -> None:
    """Start, recovery and requeuing have their times, and a job that never gets ready ends after some attempts."""
    gang = kueue(pods_ready={"recovery": 0})["spec"]["config"]["gangScheduling"]
    requeuing = {"backoffBaseSeconds": 60, "backoffMaxSeconds": 3600, "retryLimit": 5}
    times = {"timeoutSeconds": 1800, "recoveryTimeoutSeconds": 0, "requeuingStrategy": requeuing}
    assert gang == {"policy": "ByWorkload", "byWorkload": {"admission": "Parallel", **times}}
    endless = kueue(pods_ready={"requeues": None})["spec"]["config"]["gangScheduling"]["byWorkload"]
    assert "retryLimit" not in endless["requeuingStrategy"]


def test_the_pause_between_attempts_has_an_order() -> None:
    """The operator's definition refuses a first pause that is longer than the longest."""
    with pytest.raises(ValidationError, match="backoff 600 is more than longest_backoff 300; lower it"):
        PodsReady(backoff=600, longest_backoff=300)


def test_it_has_the_one_name_and_is_awaited() -> None:
    """The object has the operator's only name, and the provider waits for it."""
    metadata = kueue()["metadata"]
    assert metadata["name"] == "cluster"
    assert metadata["annotations"]["pulumi.com/waitFor"] == "condition=Available"


@pytest.mark.parametrize("wrong", [(), ("kubeflow.org/mpijob",), ("Pod", "Pod")])
def test_frameworks_are_known(wrong: tuple[str, ...]) -> None:
    """Unknown and duplicate frameworks are refused."""
    with pytest.raises(ValidationError):
        KueueOperatorArgs.model_validate({"frameworks": wrong})
