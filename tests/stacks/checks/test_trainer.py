"""Kubeflow Trainer in the settings: what torch workloads become, and what it needs."""

from typing import Any

import pytest

from tests.support.recorded import built
from tests.support.stack_settings import changed, data, expect_refusal

UPSTREAM = {"kind": "upstream", "image": "ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.2.1"}
OPERATORS = {"cert_manager": {"channel": "stable-v1"}, "jobset": {}}


def objects(**settings: Any) -> list[tuple[str, str]]:
    """Return kinds and names of what stack pytorch declares with other settings."""
    found = built(changed("pytorch", **settings))
    return [(each.type.rpartition(":")[2], each.inputs["metadata"]["name"]) for each in found if each.is_kubernetes]


def test_a_torch_workload_is_a_train_job_where_the_platform_has_trainer() -> None:
    """One runtime for the platform and one TrainJob for the workload, in place of Job and Service."""
    found = objects(trainer=UPSTREAM, operators=OPERATORS)
    assert ("TrainJob", "train-torch-02x08") in found
    assert ("Job", "train-torch-02x08") not in found
    assert [name for kind, name in found if kind == "ClusterTrainingRuntime"] == ["hpc-torch"]
    assert ("Deployment", "trainer-controller-manager") in found
    assert ("MPIJob", "train-horovod-02x08") in found


@pytest.mark.parametrize("trainer", ["none", None])
def test_without_trainer_it_stays_an_indexed_job(trainer: str | None) -> None:
    """`none` means the same as nothing."""
    found = objects(trainer=trainer)
    assert ("Job", "train-torch-02x08") in found
    assert not {"TrainJob", "ClusterTrainingRuntime"} & {kind for kind, _ in found}


def test_trainer_that_the_cluster_has() -> None:
    """The stack declares its runtime, and neither controller nor kinds."""
    found = objects(trainer={"kind": "installed"})
    assert ("ClusterTrainingRuntime", "hpc-torch") in found
    assert not [name for kind, name in found if "trainer" in name and kind != "ClusterTrainingRuntime"]


def test_kueue_manages_train_jobs_where_there_are_some() -> None:
    """Without its framework a TrainJob with a queue's name would start at once."""
    content = data("prod") | {"release": "4.21", "trainer": {"kind": "installed"}}
    (kueue,) = (each for each in built(content | {"stages": []}) if each.type.endswith(":Kueue"))
    frameworks = kueue.inputs["spec"]["config"]["integrations"]["frameworks"]
    assert frameworks == ["BatchJob", "MPIJob", "TrainJob"]


@pytest.mark.parametrize(
    ("stack", "settings", "expected"),
    [
        ("pytorch", {"operators": {}}, "trainer: … operators.jobset is missing; add `operators: {jobset: {}}`"),
        (
            "pytorch",
            {"trainer": UPSTREAM | {"image": "ghcr.io/x/manager:v2.0.0"}, "operators": OPERATORS},
            "trainer.image ghcr.io/x/manager:v2.0.0: Kubeflow Trainer 2.0 is not known …; use 2.2 or 2.3",
        ),
        ("pytorch", {"trainer": "yes"}, "trainer: …"),
        ("pytorch", {"trainer": {"kind": "upstreem"}}, "trainer.kind: … 'upstream' … 'upstreem'); write one of these"),
        ("dev", {"trainer": UPSTREAM}, "trainer: OpenShift 4.4 does not support Kubeflow Trainer …; leave it out"),
        (
            "pytorch",
            {
                "trainer": {"kind": "installed"},
                "stages__0__workloads__0__name": "a" * 50,
            },
            "stages: job a…: job_name: a…-node-0-1-abcde must be a DNS-1035 label …; shorten a… to 48 characters",
        ),
        (
            "pytorch",
            {
                "trainer": {"kind": "installed"},
                "priority_classes": [{"class_name": "urgent", "value": 1000, "purpose": "x"}],
                "stages__0__workloads__0__priority": "urgent",
            },
            "priority urgent: a TrainJob cannot …; leave it out, or set `trainer: none`",
        ),
    ],
)
def test_what_cannot_work_is_refused(stack: str, settings: dict[str, Any], expected: str) -> None:
    """Place, value and remedy, before anything is created."""
    expect_refusal(changed(stack, **settings), expected)
