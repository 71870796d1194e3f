"""Releases: what each means, and what it refuses by name."""

import copy
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from apis import yaml_text
from stacks.platform import Settings
from stacks.releases import RELEASES, ReleaseName
from stacks.settings import SettingsError, file, known, load, parse
from tests.support.recorded import ROOT


def data(stack: str) -> dict[str, Any]:
    """Return the data of a stack, to be broken."""
    content: dict[str, Any] = yaml_text.read(file(stack, ROOT).read_text())["config"]["hpc:platform"]
    return copy.deepcopy(content)


def message(content: dict[str, Any]) -> str:
    """Return the error that `content` gives."""
    with pytest.raises(SettingsError) as caught:
        parse(content, "Pulumi.test.yaml")
    return str(caught.value)


def test_every_release_is_known_and_used() -> None:
    """Prevents a release that no stack proves."""
    assert set(RELEASES) == set(get_args(ReleaseName))
    assert {load(stack, ROOT).release for stack in known(ROOT)} == set(RELEASES)


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_paths_of_releases_exist(release: Any) -> None:
    """Prevents a rule about a setting that was renamed, which then never fires again."""
    for path in (*release.choices, *release.lacks, *release.needs):
        assert _exists(Settings, path.split(".")), path


def _exists(part: Any, path: list[str]) -> bool:
    if not path:
        return True
    if path[0] == "*":
        return any(_exists(each, path[1:]) for each in _models(part))
    return any(
        path[0] in model.model_fields and _exists(model.model_fields[path[0]].annotation, path[1:])
        for model in _models(part)
    )


def _models(part: Any) -> list[type[BaseModel]]:
    if isinstance(part, type) and issubclass(part, BaseModel):
        return [part]
    return [model for each in get_args(part) for model in _models(each)]


@pytest.mark.parametrize(
    ("stack", "path", "value", "expected"),
    [
        (
            "dev",
            "gpu.enablement",
            "gpu-operator",
            "gpu.enablement: OpenShift 4.4 has no gpu-operator; choose special-resource-operator or device-plugin, "
            "or choose release 4.20",
        ),
        ("dev", "tuning", {}, "tuning: OpenShift 4.4 has not a Topology Manager"),
        (
            "dev",
            "storage.local_cluster",
            "16217308676014575381",
            "storage.local_cluster: OpenShift 4.4 has not version 3",
        ),
        ("dev", "storage.host_path", None, "storage.host_path is missing, and OpenShift 4.4 needs it"),
        (
            "dev",
            "mpi_operator.kubectl_delivery_image",
            None,
            "mpi_operator.kubectl_delivery_image is missing, and OpenShift 4.4 needs it",
        ),
        ("dev", "tenants.0.data.long_handle", True, "tenants.0.data.long_handle: OpenShift 4.4 has not version 3"),
        ("redpaper-today", "storage.host_path", "/gpfs/fs0", "storage.host_path: OpenShift 4.20 has not version 2.0"),
        ("redpaper-today", "storage.local_cluster", None, "give one to the local cluster alone, or name local_cluster"),
        (
            "redpaper-today",
            "mpi_operator.kubectl_delivery_image",
            "mpioperator/kubectl-delivery:v0.2.3",
            "OpenShift 4.20 has not launchers that use kubectl",
        ),
        (
            "supermicro-3.11",
            "fabric",
            {"kind": "infiniband", "plugin": {"kind": "daemon-set", "image": "mellanox/k8s-rdma-shared-dev-plugin:v1"}},
            "fabric.kind: OpenShift 3.11 has no infiniband; choose ethernet, or choose release 4.4 or 4.20",
        ),
        (
            "dev",
            "fabric",
            data("nvaie-roce")["fabric"],
            "fabric.kind: OpenShift 4.4 has no roce; choose infiniband or ethernet, or choose release 4.20",
        ),
        (
            "supermicro-3.11",
            "mpi_operator",
            {"image": "mpioperator/mpi-operator:v0.2.3"},
            "mpi_operator: OpenShift 3.11 has not an MPI operator",
        ),
    ],
)
def test_what_a_release_does_not_support_names_both(stack: str, path: str, value: Any, expected: str) -> None:
    """Prevents a setting that is taken in silence and has no effect, or fails on the cluster."""
    content = data(stack)
    *parents, last = path.split(".")
    part: Any = content
    for parent in parents:
        part = part[int(parent) if parent.isdecimal() else parent]
    if path == "gpu.enablement":
        part["driver"] = {"version": "580.95.05"}
    part[last] = value
    assert expected in message(content)


def test_the_same_lab_runs_on_either_release() -> None:
    """Prevents an upgrade that changes who the tenants are, where their data is, or which machines there are."""
    then, now = load("redpaper-4.4", ROOT), load("redpaper-today", ROOT)
    assert then.tenants == now.tenants
    assert then.nodes == now.nodes
    assert (then.profile, then.rdma_resources) == (now.profile, now.rdma_resources)
    assert then.storage
    assert now.storage
    assert then.storage.own_cluster == now.storage.own_cluster


def test_the_redpapers_example_is_the_lab() -> None:
    """Prevents two copies of the lab that say different things."""
    example, lab = load("redpaper-4.4", ROOT), load("dev", ROOT)
    assert example.model_copy(update={"cluster": lab.cluster}) == lab
