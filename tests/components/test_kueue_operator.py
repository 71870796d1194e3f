"""Kueue as Red Hat's operator installs it."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.kueue_operator import KueueOperator, KueueOperatorArgs
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only


def kueue(**changed: Any) -> Manifest:
    """Return the object."""
    args = KueueOperatorArgs.model_validate(changed)
    found = declared(lambda: KueueOperator("kueue", args))
    assert faults(found) == []
    return only(found, "Kueue")


def _choice(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def _fields(required: str, **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": [required]}


_FRAMEWORKS = (
    *("BatchJob", "RayJob", "RayCluster", "JobSet", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "TrainJob"),
    *("XGBoostJob", "JaxJob", "AppWrapper", "Pod", "Deployment", "StatefulSet", "LeaderWorkerSet"),
)
_GANG = _fields(
    "policy",
    policy=_choice("ByWorkload", "None", ""),
    byWorkload=_fields("admission", admission=_choice("", "Parallel", "Sequential")),
)
_FRAMEWORK_LIST = {
    "type": "array",
    "items": _choice(*_FRAMEWORKS),
    "minItems": 1,
    "maxItems": 14,
    "x-kubernetes-list-type": "set",
}
_CONFIG = _fields(
    "integrations",
    integrations=_fields("frameworks", frameworks=_FRAMEWORK_LIST),
    workloadManagement=_fields("labelPolicy", labelPolicy=_choice("", "QueueName", "None")),
    gangScheduling=_GANG,
)
_STATE = {"type": "string", "pattern": "^(Managed|Unmanaged|Force|Removed)$"}
_WHOLE = {"type": "object", "properties": {"spec": _fields("config", config=_CONFIG, managementState=_STATE)}}
DEFINITION: dict[str, Any] = {
    "spec": {
        "group": "kueue.openshift.io",
        "names": {"kind": "Kueue"},
        "versions": [{"name": "v1", "served": True, "schema": {"openAPIV3Schema": _WHOLE}}],
    }
}
"""What the real definition says of the fields in use (openshift/kueue-operator, manifests, at 040ec87)."""


@pytest.mark.parametrize("changed", [{}, {"gang": "Sequential", "unlabelled": "held", "frameworks": ("Pod", "MPIJob")}])
def test_it_has_the_shape_of_its_definition(changed: dict[str, Any]) -> None:
    """Prevents a framework's name in upstream's own form (kubeflow.org/mpijob), which the operator refuses."""
    expect_conformity(kueue(**changed), definitions=[DEFINITION])


def test_jobs_and_mpi_jobs_are_managed_if_they_name_a_queue() -> None:
    """Prevents MPI jobs that start beside the queue, and jobs without a queue that wait for ever."""
    assert kueue()["spec"] == {
        "managementState": "Managed",
        "config": {
            "integrations": {"frameworks": ["BatchJob", "MPIJob"]},
            "workloadManagement": {"labelPolicy": "QueueName"},
        },
    }


def test_gang_says_how_jobs_are_admitted() -> None:
    """Prevents a policy without its byWorkload, which the definition refuses, and the other way round."""
    gang = kueue(gang="Parallel")["spec"]["config"]["gangScheduling"]
    assert gang == {"policy": "ByWorkload", "byWorkload": {"admission": "Parallel"}}


def test_it_has_the_one_name_and_is_awaited() -> None:
    """Prevents a name that the API server refuses, and queues that are sent before the webhook is there."""
    metadata = kueue()["metadata"]
    assert metadata["name"] == "cluster"
    assert metadata["annotations"]["pulumi.com/waitFor"] == "condition=Available"


@pytest.mark.parametrize("wrong", [(), ("kubeflow.org/mpijob",), ("Pod", "Pod")])
def test_frameworks_are_known(wrong: tuple[str, ...]) -> None:
    """Prevents an object that the API server refuses in the middle of an update."""
    with pytest.raises(ValidationError):
        KueueOperatorArgs.model_validate({"frameworks": wrong})
