"""Releases: what each means, and what it refuses by name."""

import re
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from stacks.loading.settings import load
from stacks.releases import FOLDER, RELEASES, ReleaseError, Support
from stacks.releases import load as read
from stacks.settings.platform import Settings
from tests.support.recorded import OURS, ROOT, built
from tests.support.recorded import environment as registrations
from tests.support.stack_settings import changed, data, expect_message, expect_refusal, message
from toolkit.render.manifests import manifests

DAY = timedelta(days=1)


def test_every_file_is_a_release() -> None:
    """Every file in the folder is a release, from the oldest to the newest; a stack has each historical one."""
    assert set(RELEASES) == {file.stem for file in FOLDER.iterdir()}
    assert list(RELEASES) == sorted(RELEASES, key=lambda name: [int(part) for part in name.split(".")])
    used = {load(stack, ROOT).release for stack in OURS}
    assert used >= {name for name, release in RELEASES.items() if release.historical}


@pytest.mark.parametrize(
    ("name", "edit", "expected"),
    [
        (
            "4.20.yaml",
            lambda text: text.replace('"1.33"', "1.33"),
            "4.20.yaml … kubernetes: … (value: 1.33); … in quotes",
        ),
        ("4.20.yaml", lambda text: text + "lack: {}", "4.20.yaml … lack: … remove it"),
        ("4.20.yaml", lambda text: text.replace("simulated_as: current\n", ""), "4.20.yaml … simulated_as: … add it"),
        (
            "4.20.yaml",
            lambda text: text.replace('simulated_kubernetes: "1.34"\n', ""),
            "simulated_kubernetes None … give both, or neither",
        ),
        ("4.20.yaml", lambda text: text.replace("v2beta1", "v3"), "4.20.yaml … mpi_job: … kubeflow.org/v3'); … one of"),
        (
            "4.20.yaml",
            lambda text: re.sub("support:(\n  .*)+", "", text),
            "support is missing; … historical",
        ),
        (
            "4.20.yaml",
            lambda text: re.sub("node_feature_labels:(\n  .*)+", "", text),
            "node_feature_labels is missing; … PCI classes",
        ),
        ("4.20.yaml", lambda text: text + 'name: "4.21"', "4.20.yaml … name: … 4.21 … remove it"),
        ("4.20.yaml", lambda _: "", "4.20.yaml … write `field: value` lines"),
        ("4.20.yaml", lambda _: "{", "4.20.yaml:1:2: the text ends within brackets; close them"),
        ("newest.yaml", lambda text: text, "newest.yaml … call the file as its release"),
        ("4.20.yml", lambda text: text, "4.20.yml … call the file as its release"),
    ],
)
def test_a_broken_file_is_refused_by_path(name: str, edit: Callable[[str], str], expected: str, tmp_path: Path) -> None:
    """A wrong file of a release is refused with its path, and each field with value and remedy."""
    folder = shutil.copytree(FOLDER, tmp_path / "releases")
    (folder / name).write_text(edit((FOLDER / "4.20.yaml").read_text()))
    with pytest.raises(ReleaseError) as caught:
        [*read(folder).values()]
    expect_message(str(caught.value).replace("\n", " "), f"{folder} … {expected}")


def test_a_wrong_release_hides_what_would_follow_from_it() -> None:
    """Of a release that is wrong, or written by another name, nothing is reported that it would have filled in."""
    text = message(changed("pytorch", release=4.20))
    assert "1 wrong" in text
    data = changed("pytorch", releese="4.21")
    del data["release"]
    text = message(data)
    assert "2 wrong" in text
    expect_message(text, "releese: …; did you mean release?")


@pytest.mark.parametrize(("release", "expected"), [("9.9", "'9.9'"), (4.20, "in quotes … 4.2"), (None, "'4.20'")])
def test_an_unknown_release_is_refused_with_the_known_ones(release: object, expected: str) -> None:
    """A release without a file is refused by path; a number is to be written in quotes."""
    expect_refusal(data("dev") | {"release": release}, f"release: … '3.11', … '4.4' … {expected} …; write")


@pytest.mark.parametrize(
    "name",
    [name for name, release in RELEASES.items() if not release.historical and name != load("prod", ROOT).release],
)
def test_production_is_the_same_on_every_release_of_today(name: str) -> None:
    """Production can move to every release that has no document behind it, and declares the same there."""
    assert manifests(built(data("prod") | {"release": name})) == manifests(registrations("prod"))


def test_support_lasts_to_its_last_day() -> None:
    """A release is in support up to its last day, the extended one where it has one; a historical one has none."""
    last = date(2026, 8, 25)
    support = Support(until=last, source="a test")
    today = RELEASES["4.20"].model_copy(update={"support": support})
    extended = today.model_copy(update={"support": Support(until=last, extended_until=last + DAY, source="a test")})
    assert [release.last_day for release in (today, extended, RELEASES["4.4"])] == [last, last + DAY, None]


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_paths_of_releases_exist(release: Any) -> None:
    """Every path of a release's tables is a setting."""
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
            "gpu.enablement: OpenShift 4.4 … gpu-operator; … special-resource-operator or device-plugin, … 4.20",
        ),
        ("dev", "tuning", {}, "tuning: OpenShift 4.4 … Topology Manager …; leave it out"),
        (
            "dev",
            "storage.local_cluster",
            "16217308676014575381",
            "storage.local_cluster: OpenShift 4.4 … version 3 …; leave it out",
        ),
        ("dev", "storage.host_path", None, "storage.host_path … missing … OpenShift 4.4"),
        (
            "dev",
            "mpi_operator.kubectl_delivery_image",
            None,
            "mpi_operator.kubectl_delivery_image … missing … OpenShift 4.4",
        ),
        (
            "dev",
            "tenants.0.volumes.0.long_handle",
            True,
            "tenants[0].volumes[0].long_handle: OpenShift 4.4 … version 3",
        ),
        (
            "redpaper-today",
            "storage",
            data("dev")["storage"],
            "storage.host_path: OpenShift 4.20 … RHCOS … container-native … (value: '/gpfs/fs0'); leave it out",
        ),
        (
            "redpaper-today",
            "storage",
            data("dev")["storage"],
            "storage.kind: OpenShift 4.20 does not support host-clients; use container-native, … 4.4 or 4.18",
        ),
        (
            "redpaper-today",
            "nodes.5.scale_client",
            True,
            "nodes: scale_client of dgx01.ocp4.scale.ibm.com: OpenShift 4.20 … RHCOS … container-native … "
            "(value: True); leave it out, or use release … 4.18",
        ),
        (
            "dev",
            "storage",
            data("redpaper-today")["storage"],
            "storage.kind: OpenShift 4.4 does not support container-native; use host-clients",
        ),
        (
            "redpaper-today",
            "mpi_operator.kubectl_delivery_image",
            "mpioperator/kubectl-delivery:v0.2.3",
            "mpi_operator.kubectl_delivery_image: OpenShift 4.20 …; leave it out",
        ),
        (
            "supermicro-3.11",
            "fabric",
            {"kind": "infiniband", "plugin": {"kind": "daemon-set", "image": "mellanox/k8s-rdma-shared-dev-plugin:v1"}},
            "fabric.kind: OpenShift 3.11 … infiniband; … ethernet, … release 4.4 … 4.20",
        ),
        (
            "dev",
            "fabric",
            data("nvaie-roce")["fabric"],
            "fabric.kind: OpenShift 4.4 … roce; … infiniband or ethernet, … release … 4.20",
        ),
        (
            "supermicro-3.11",
            "mpi_operator",
            {"image": "mpioperator/mpi-operator:v0.2.3"},
            "mpi_operator: OpenShift 3.11 … MPI operator …; leave it out",
        ),
    ],
)
def test_what_a_release_does_not_support_names_both(stack: str, path: str, value: Any, expected: str) -> None:
    """An unsupported setting, as a way to GPUs, is refused by path, with the releases that support it."""
    content = data(stack)
    *parents, last = path.split(".")
    part: Any = content
    for parent in parents:
        part = part[int(parent) if parent.isdecimal() else parent]
    if path == "gpu.enablement":
        part["driver"] = {"version": "580.95.05"}
    part[last] = value
    expect_refusal(content, expected)


def test_the_same_lab_runs_on_either_release() -> None:
    """Tenants, data and machines are the same on both releases of the lab."""
    then, now = load("redpaper-4.4", ROOT), load("redpaper-today", ROOT)
    assert [each.model_copy(update={"volumes": ()}) for each in then.tenants] == [
        each.model_copy(update={"volumes": ()}) for each in now.tenants
    ]
    assert [node.model_copy(update={"scale_client": False}) for node in then.nodes] == list(now.nodes)
    assert [(pool.machine, pool.rdma_resources) for pool in then.gpu_pools] == [
        (pool.machine, pool.rdma_resources) for pool in now.gpu_pools
    ]
    assert then.storage
    assert now.storage
    assert then.storage.file_system == now.storage.file_system


def test_the_redpapers_example_is_the_lab() -> None:
    """The Redpaper's example equals the lab's settings but for the cluster."""
    example, lab = load("redpaper-4.4", ROOT), load("dev", ROOT)
    assert example.model_copy(update={"cluster": lab.cluster}) == lab


def test_the_systems_of_workers_are_data_of_the_release() -> None:
    """RHEL 7.6 to 7.8 are of 4.4, RHEL 8 ends with 4.18, and later workers are RHCOS alone."""
    systems = {name: dict(release.systems) for name, release in RELEASES.items()}
    assert systems["3.11"] == {"rhel7": ()}
    assert systems["4.4"] == {"rhel7": ("7.6", "7.7", "7.8"), "rhcos": ()}
    assert systems["4.18"] == {"rhel8": (), "rhcos": ()}
    later = [name for name in systems if tuple(map(int, name.split("."))) > (4, 18)]
    assert later
    assert all(systems[name] == {"rhcos": ()} for name in later)
