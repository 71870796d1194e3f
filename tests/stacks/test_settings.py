"""Settings: every rule that spans fields, and messages that say what to do."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apis import yaml_text
from stacks import workloads
from stacks.layer_settings import TENANTS_PART
from stacks.settings import Settings, SettingsError, known, load, parse
from stacks.storage_settings import DirectoryData
from tests.support.recorded import ROOT


def dev() -> dict[str, Any]:
    """Return the data of the dev stack, to be broken."""
    data: dict[str, Any] = yaml_text.read((ROOT / "Pulumi.dev.yaml").read_text())["config"]["hpc:platform"]
    return copy.deepcopy(data)


def message(data: object) -> str:
    """Return the error that `data` gives."""
    with pytest.raises(SettingsError) as caught:
        parse(data, "Pulumi.test.yaml")
    return str(caught.value)


@pytest.mark.parametrize("stack", known(ROOT))
def test_stacks_load_without_secrets_or_engine(stack: str) -> None:
    """Prevents a stack that only its owner, with the passphrase, can check."""
    assert isinstance(load(stack, ROOT), Settings)


def test_kubeconfig_may_be_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents a provider that looks for a folder called ~ in the project, where ./hpc finds the kubeconfig."""
    monkeypatch.setenv("HOME", "/somebody")
    cluster = load("dev", ROOT).cluster
    paths = {cluster.model_copy(update={"kubeconfig": text}).path(ROOT) for text in ("~/.kube/config", "/a", "a/b")}
    assert paths == {Path("/somebody/.kube/config"), Path("/a"), ROOT / "a" / "b"}


def test_dev_is_the_lab_of_the_redpaper() -> None:
    """Prevents the figures of R-3.4.5-6 and R-4.2-2 from drifting."""
    lab = load("dev", ROOT)
    storage, data = lab.storage, lab.tenant("adas").data
    assert storage is not None
    assert isinstance(data, DirectoryData)
    assert [cluster.id for cluster in storage.clusters] == ["16217308676014575381", "215057217487177715"]
    assert storage.own_cluster == "16217308676014575381"
    assert str(data.handle(storage)) == "16217308676014575381;099B6A7A:5EB99743;path=/gpfs/ess3000_4M/adas"
    assert [workloads.job_name(each, lab) for stage in lab.stages for each in stage.workloads] == [
        "mofed-test-job",
        "nv-nccl-dgx01",
        "nv-nccl-dgx02",
        "nccl-test-01x08",
        "nccl-test-02x08",
        "nccl-test-16x01",
        "tf2-resnet50-01x08x01",
        "tf2-resnet50-02x08x02",
        "tf2-a2d2-08x01x01-gpu",
        "tf2-a2d2-16x01x02-gpu",
    ]


def test_prod_has_tenants_and_protects_them() -> None:
    """Prevents production from being deletable like the lab."""
    prod = load("prod", ROOT)
    assert prod.protect
    assert len(prod.tenants) > 1
    assert prod.storage is not None
    assert all(cluster.secure_ssl for cluster in prod.storage.clusters)


def test_all_errors_are_reported_at_once_with_path_value_and_remedy() -> None:
    """Prevents mending a file one error at a time."""
    data = dev()
    data["colour"] = "blue"
    data["fabric"]["hca_max"] = 0
    data["nodes"][5]["profile"] = "dgx9"
    text = message(data)
    assert "Pulumi.test.yaml: 3 wrong" in text
    assert "hpc:platform.colour: Extra inputs are not permitted; remove it" in text
    assert "hpc:platform.fabric.hca_max" in text
    assert "(value: 0)" in text
    assert "unknown hardware profile 'dgx9'; known: dgx-a100, dgx1-v100-16gb" in text


def test_errors_do_not_show_what_may_be_a_secret() -> None:
    """Prevents a password that somebody writes into the settings from standing in the logs of CI as well."""
    data = dev()
    data["scaleGui"] = {"csisecret-local": {"password": "planted"}}
    data["password"] = "planted"
    data["storage"]["clusters"][0] |= {"password": "planted", "secret": "planted, too"}
    data["state"] = {"backend": "postgres://user:planted@db/x", "secrets_provider": "hashivault/planted"}
    text = message(data)
    assert "planted" not in text
    assert "hpc:platform.storage.clusters.0.secret: String should match" in text
    assert "hpc:platform.storage.clusters.0.password: Extra inputs are not permitted; remove it" in text
    data = dev()
    data["state"] = {"secrets_provider": "hashivault/planted"}
    data["fabric"]["kind"] = "shown"
    text = message(data)
    assert "planted" not in text
    assert "no secrets provider" in text


def test_missing_settings_are_named() -> None:
    """Prevents an unreadable error when a new stack has no settings yet."""
    assert "hpc:platform is missing" in message(None)


@pytest.mark.parametrize("content", [b"", b"- a list", b"config: {}", b"config:\n  other: 1", b"\xff\xfe\x00"])
def test_files_that_are_no_settings_are_refused_plainly(tmp_path: Path, content: bytes) -> None:
    """Prevents a traceback for an empty or foreign file."""
    (tmp_path / "Pulumi.bad.yaml").write_bytes(content)
    with pytest.raises(SettingsError, match=r"is missing|is not YAML"):
        load("bad", tmp_path)


def test_a_wrong_item_is_reported_once() -> None:
    """Prevents a list that counts as too short because of the item in it that is already reported."""
    data = dev()
    data["nodes"][0]["roles"] = ["boss"]
    text = message(data)
    assert "1 wrong" in text
    assert "hpc:platform.nodes.0.roles.0" in text


def test_rules_over_several_fields_name_the_settings_themselves() -> None:
    """Prevents a path that does not exist."""
    data = dev()
    data["nodes"][0]["name"] = data["nodes"][1]["name"]
    assert "  hpc:platform: nodes 'master02.ocp4.scale.ibm.com' is given twice" in message(data)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("namespace", "adas", "tenants: namespace 'adas' is given twice"),
        ("mcs", "s0:c27,c24", "tenants: mcs 's0:c27,c24' is given twice"),
        ("uid_range", {"start": 1075489000}, "overlaps"),
        ("run_as_uid", 1075481000, "run_as_uid 1075481000 is outside uid_range 1075490000/10000"),
    ],
)
def test_tenants_share_nothing(field: str, value: object, expected: str) -> None:
    """Prevents two tenants from reading each other's files through equal ids or SELinux levels (E-17)."""
    data = dev()
    other = copy.deepcopy(data["tenants"][0]) | {
        "namespace": "other",
        "mcs": "s0:c1,c2",
        "uid_range": {"start": 1075490000},
        "run_as_uid": 1075491000,
        field: value,
    }
    if field == "uid_range":
        other["run_as_uid"] = 1075489500
    other["data"] |= {"volume": "other-data-pv01"}
    data["tenants"].append(other)
    assert expected in message(data)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"layout": {"pods": 1, "gpus": 9}}, "layout.gpus 9 is more than the 8 of dgx1-v100-16gb"),
        ({"shm_gib": 369}, "shm_gib 369 is more than the pod's memory of 368 GiB; lower it"),
        ({"layout": {"pods": 3, "gpus": 8}}, "layout 03x08 does not fit on 2 nodes with 8 free GPUs each"),
        ({"layout": {"pods": 3, "gpus": 8}}, "takes 24 GPUs, and tenant adas has a gpu_quota of 16"),
        ({"tenant": "nobody"}, "has tenant 'nobody'; known: adas"),
        ({"layout": {"pods": 2, "gpus": 8}}, "stages: job 'adas/nccl-test-02x08' is given twice"),
        ({"program": "minesweeper"}, "program"),
    ],
)
def test_workloads_fit_the_platform(change: dict[str, Any], expected: str) -> None:
    """Prevents a job that can never be placed, or that two settings claim."""
    data = dev()
    data["stages"][2]["workloads"][0] |= change
    assert expected in message(data)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"hca": "mlx5_7"}, "hca 'mlx5_7' is not one of dgx1-v100-16gb: mlx5_0, mlx5_1, mlx5_2, mlx5_3"),
        ({"client_node": "worker03.ocp4.scale.ibm.com"}, "is not a GPU node"),
        ({"client_node": "dgx02.ocp4.scale.ibm.com"}, "name two nodes"),
    ],
)
def test_rdma_test_names_two_gpu_nodes_and_an_hca(change: dict[str, Any], expected: str) -> None:
    """Prevents a bandwidth test of a node with itself, which proves nothing about the fabric."""
    data = dev()
    data["stages"][0]["workloads"][0] |= change
    assert expected in message(data)


def test_cluster_ids_are_strings() -> None:
    """Prevents 16217308676014575381 from being rounded on its way through JSON numbers (policy 10)."""
    data = dev()
    data["storage"]["clusters"][0]["id"] = 16217308676014575381
    assert "storage.clusters.0.id" in message(data)


def test_exactly_one_cluster_is_local() -> None:
    """Prevents volume handles that begin with another cluster's id."""
    data = dev()
    del data["storage"]["clusters"][0]["primary"]
    assert "give one to the local cluster alone" in message(data)


def test_unknown_stack_names_the_known_ones(tmp_path: Path) -> None:
    """Prevents a bare FileNotFoundError."""
    with pytest.raises(SettingsError, match=r"Pulumi\.nosuch\.yaml is missing; known stacks: dev, prod"):
        load("nosuch", ROOT)
    (tmp_path / "Pulumi.bad.yaml").write_text("config: [")
    with pytest.raises(SettingsError, match="is not YAML"):
        load("bad", tmp_path)


@pytest.mark.parametrize("edit", [lambda data: data.update(tenants=[]), lambda data: data.pop("tenants")])
def test_the_last_tenant_can_go(edit: Callable[[dict[str, Any]], object]) -> None:
    """Prevents a person from being told of tuples, where the question is how a platform stays without tenants."""
    data = dev()
    edit(data)
    assert "write `layer: platform` in place of it" in message(data)
    without = {key: value for key, value in data.items() if key not in TENANTS_PART}
    assert not parse({**without, "layer": "platform"}, "Pulumi.test.yaml").tenants


@pytest.mark.parametrize(
    ("edit", "remedy"),
    [
        (lambda data: data.pop("nodes"), "platform.nodes: Field required; add it"),
        (lambda data: data.update(nodes=[]), "; write one more"),
        (lambda data: data["tenants"][0].update(namespace="A B"), "; write it in that form"),
        (lambda data: data.update(release="9.9"), "; write one of these"),
    ],
)
def test_what_pydantic_says_has_a_remedy(edit: Callable[[dict[str, Any]], object], remedy: str) -> None:
    """Prevents a refusal that says what is wrong and not what to do."""
    data = dev()
    edit(data)
    assert remedy in message(data)
