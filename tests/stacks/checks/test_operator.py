"""Install modes of operators."""

from typing import Any

import pytest

from stacks.checks.allowance import warnings
from stacks.loading.settings import load, parse
from tests.support.recorded import OURS, ROOT, built
from tests.support.stack_settings import changed, data, expect_message, expect_refusal


def test_an_operator_for_the_whole_cluster_is_not_confined() -> None:
    """Kueue's operator has no mode but AllNamespaces; without the setting it would watch its own namespace."""
    expect_refusal(
        changed("superpod-a100", queues__operator__own_namespace_only=True),
        "queues.operator.own_namespace_only: kueue-operator has no install mode but AllNamespaces: … set it to false",
    )


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"release": "4.22", "gpu__operator__channel": "v25.10"},
            "gpu.operator.channel v25.10: GPU Operator 25.10 … OpenShift 4.22 … use 26.3 or 26.7, … 4.18, 4.19 or 4.20",
        ),
        (
            {"fabric__plugin__operator__channel": "v25.4"},
            "fabric.plugin.operator.channel v25.4: Network Operator 25.4 … OpenShift 4.20 … use 25.7, … release 4.18",
        ),
        (
            {"gpu__operator__starting_csv": "gpu-operator-certified.v25.3.4"},
            "gpu.operator.starting_csv … GPU Operator 25.3 … OpenShift 4.20 … use 25.10, … release 4.18 or 4.19",
        ),
        (
            {"node_feature_discovery__starting_csv": "nfd.4.18.0-202601010000"},
            "node_feature_discovery.starting_csv nfd.4.18.0-… Node Feature Discovery 4.18 … use 4.20, or release 4.18",
        ),
    ],
)
def test_a_version_for_other_releases_is_refused(settings: dict[str, Any], expected: str) -> None:
    """A version that its vendor lists for other releases only is refused by path, with those that fit."""
    expect_refusal(changed("prod", **settings), expected)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"gpu__operator__channel": "v27.1"},
            "gpu.operator.channel v27.1: … OpenShift 4.20 … 25.10, 26.3 or 26.7",
        ),
        ({"queues__operator__channel": "stable-v9.9"}, "queues.operator.channel stable-v9.9: … 9.9 … 1.3 or 1.4"),
    ],
)
def test_a_version_that_no_one_lists_is_a_warning(settings: dict[str, Any], expected: str) -> None:
    """A version that is listed for no release is accepted, and named in a warning with those that are listed."""
    (warning,) = warnings(parse(changed("prod", **settings), "test"))
    expect_message(warning, expected)


@pytest.mark.parametrize("channel", ["stable", "v26.3", "v26.7.1", "26.7"])
def test_listed_versions_and_heads_of_channels_are_silent(channel: str) -> None:
    """A channel without a version, and a listed version in any form, is neither refused nor warned of."""
    assert list(warnings(parse(changed("prod", gpu__operator__channel=channel), "test"))) == []


@pytest.mark.parametrize("stack", OURS)
def test_the_projects_stacks_have_listed_versions(stack: str) -> None:
    """No stack of the project has a version that vendors do not list for its release."""
    assert list(warnings(load(stack, ROOT))) == []


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
