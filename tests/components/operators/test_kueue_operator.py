"""Kueue as Red Hat's operator installs it."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.operators.kueue_operator import KueueOperator, KueueOperatorArgs
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only


def kueue(**changed: Any) -> Manifest:
    """Return the object."""
    args = KueueOperatorArgs.model_validate(changed)
    found = declared(lambda: KueueOperator("kueue", args))
    assert faults(found) == []
    return only(found, "Kueue")


@pytest.mark.parametrize("changed", [{}, {"gang": "Sequential", "unlabelled": "held", "frameworks": ("Pod", "MPIJob")}])
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


def test_gang_says_how_jobs_are_admitted() -> None:
    """Gang scheduling has byWorkload exactly where its policy needs it."""
    gang = kueue(gang="Parallel")["spec"]["config"]["gangScheduling"]
    assert gang == {"policy": "ByWorkload", "byWorkload": {"admission": "Parallel"}}


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
