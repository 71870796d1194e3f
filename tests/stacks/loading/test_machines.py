"""Machines of a stack's own, in files beside its settings, and today's machines in settings."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from components.jobs.torch_job import TorchJobArgs
from core.hardware.profiles import to_json
from stacks.layers.job_arguments import of_job
from stacks.loading.settings import SettingsError, load, parse
from stacks.resolved import jobs
from tests.support.machines import pcie_server
from tests.support.recorded import ROOT, environment, of_kind, spec
from tests.support.stack_settings import data, expect_message, expect_refusal, message, only_pool
from toolkit.render.manifests import manifests
from toolkit.simulator.bootstrap import nodes
from toolkit.simulator.state import NodeSpec

OURS = "base: dgx-h100\nmemory_gib: 1024\nsource: ours\n"


def on(machine: str, **settings: Any) -> dict[str, Any]:
    """Return the settings of RoCE on another machine, whose ports have names of their own."""
    content = data("nvaie-roce")
    content["nodes"][-1]["machine"] = machine
    del content["tuning"]["rail_names"]
    return content | settings


@pytest.mark.parametrize("machine", ["dgx-h100", "dgx-h200"])
def test_roce_uses_the_names_of_ethernet_mode(machine: str) -> None:
    """Interfaces and resources of RoCE follow from the machine's file."""
    settings = parse(on(machine), "test")
    assert only_pool(settings).interfaces[0] == "enp24s0np0"
    assert settings.rdma_resources[-1] == "shared_enp220s0np0"


def test_a_stack_brings_its_own_machine(tmp_path: Path) -> None:
    """A file that the settings name is a machine, below the folder of the project."""
    (tmp_path / "machines").mkdir()
    (tmp_path / "machines" / "our-dgx.yaml").write_text(OURS)
    settings = parse(on("our-dgx", machines=["machines/our-dgx.yaml"]), "test", root=tmp_path)
    assert (only_pool(settings).machine.name, only_pool(settings).machine.memory_gib) == ("our-dgx", 1024)
    assert {node.gpus for node in settings.gpu_nodes} == {8}
    spec = NodeSpec(name="dgx01", profile="our-dgx", machine=to_json(settings.gpu_nodes[0].hardware))
    assert nodes.status(spec, kubelet_port=1, version="1")["status"]["capacity"]["cpu"] == "224"


@pytest.mark.parametrize(
    ("ports", "transport", "level"),
    [
        (("NODE NODE SYS SYS", "SYS SYS NODE NODE"), "gpudirect", "PHB"),
        (("SYS SYS NODE NODE", "SYS SYS NODE NODE"), "infiniband", "LOC"),
    ],
)
def test_jobs_on_a_server_without_nvlink(tmp_path: Path, ports: tuple[str, ...], transport: str, level: str) -> None:
    """Jobs use GPUDirect over host bridges, or none where GPUs reach every port over the link between sockets only."""
    machine = pcie_server(*ports)
    fields = machine.model_dump(mode="json", exclude={"name", "gpu"}) | {"gpu": "ada/l40s"}
    (tmp_path / "ours.yaml").write_text(json.dumps(fields))
    content = data("h200-infiniband") | {"machines": ["ours.yaml"]}
    content["nodes"][-1]["machine"] = "ours"
    workload = {
        "kind": "torch",
        "name": "collectives",
        "image": "example/torch:1",
        "tenant": content["tenants"][0]["namespace"],
        "layout": "2x4",
    }
    del content["tuning"]["rail_names"]
    content["tenants"][0]["gpu_quota"] = 8
    content["stages"] = [{"name": "all", "workloads": [workload | {"program": "torch-collectives"}]}]
    settings = parse(content, "test", root=tmp_path)
    (job,) = jobs.every(settings)
    args = of_job(job, settings)
    assert isinstance(args, TorchJobArgs)
    assert args.transport == transport
    assert args.transport.environment(args.gdr_level, words=True)["NCCL_NET_GDR_LEVEL"] == level
    content["stages"][0]["workloads"][0]["transport"] = "gpudirect"
    if transport != "gpudirect":
        with pytest.raises(SettingsError, match="GPU 0, 1 reach every port over the link between sockets only; or use"):
            parse(content, "test", root=tmp_path)


@pytest.mark.parametrize(
    ("files", "named", "expected"),
    [
        (
            {},
            ["machines/none.yaml"],
            "machines[0]: … machines/none.yaml: … correct the path",
        ),
        ({"dgx-h100.yaml": OURS}, ["dgx-h100.yaml"], "machines[0]: dgx-h100.yaml: … give the file another name"),
        ({"hgx-h100.yaml": OURS}, ["hgx-h100.yaml"], "machines[0]: hgx-h100.yaml: … give the file another name"),
        ({"a.yaml": OURS}, ["a.yaml", "a.yaml"], "machines[1]: a.yaml: … this list … give the file another name"),
    ],
)
def test_wrong_machines_are_refused(tmp_path: Path, files: dict[str, str], named: list[str], expected: str) -> None:
    """A machine file that is missing, or whose name is taken, is refused with path, value and remedy."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(SettingsError) as caught:
        parse(on("dgx-h100", machines=named), "test", root=tmp_path)
    expect_message(str(caught.value), expected)


def test_one_machine_is_a_list_too() -> None:
    """A single file of machines is written as a list; the message has value and remedy."""
    expect_refusal(on("dgx-h100", machines="a.yaml"), "machines: … (value: 'a.yaml'); write a list")


def test_a_broken_machine_names_its_field(tmp_path: Path) -> None:
    """A wrong field of a machine file is named with file and value, which ends the message."""
    (tmp_path / "a.yaml").write_text(OURS.replace("1024", "none"))
    with pytest.raises(
        SettingsError, match=r"(?s)machines\[0\]: .*a\.yaml: 1 wrong.*a\.yaml:2:13: memory_gib: .*'none'\); write one$"
    ):
        parse(on("a", machines=["a.yaml"]), "test", root=tmp_path)


def test_a_misspelt_machine_names_the_machines_of_the_stack(tmp_path: Path) -> None:
    """An unknown machine is refused with the stack's own machines beside the known ones."""
    (tmp_path / "our-dgx.yaml").write_text(OURS)
    with pytest.raises(SettingsError) as caught:
        parse(on("our-dxg", machines=["our-dgx.yaml"]), "test", root=tmp_path)
    expect_message(str(caught.value), "nodes[2].machine: … 'our-dxg'; known: dgx-a100 … this stack has our-dgx")


def test_what_no_source_gives_is_named() -> None:
    """Ports of which no source has the name need one, in the settings or in a machine file."""
    content = on("dgx-b200")
    expect_refusal(content, "hcas.netdev of mlx5_4 … dgx-b200 is not known; … `ports` … `machines`")
    assert "Pulumi.test.yaml: 1 wrong" in message(content)
    content["fabric"]["networks"]["subnets"].pop()
    expect_refusal(content, "fabric.networks.subnets: 7 … 8 ports of dgx-b200; give one each")


def test_a_machine_that_sites_complete_is_refused() -> None:
    """A machine that is to be completed on site is refused with its fields."""
    expect_refusal(
        on("hgx-h100"), "nodes[2].machine: … 'hgx-h100' is incomplete: cpu_cores … `base: hgx-h100` … `machines`"
    )


@pytest.mark.parametrize(
    ("stack", "hcas", "interfaces"),
    [
        ("h200-infiniband", "0,3,4,5,6,9,10,11", "rail{}"),
        ("b200-infiniband", "4,7,8,9,10,13,14,15", "rail{}"),
        ("h100-roce", "0,3,4,5,6,9,10,11", "enp{}s0np0"),
    ],
)
def test_jobs_follow_from_the_machines_file(stack: str, hcas: str, interfaces: str) -> None:
    """NCCL's devices, GPUDirect's level, resources and what nodes keep are those of the machine's file."""
    settings = load(stack, ROOT)
    buses = (24, 64, 79, 94, 154, 192, 206, 220) if "{}s0" in interfaces else range(8)
    names = [interfaces.format(number) for number in buses]
    assert list(settings.rdma_resources) == [f"shared_{name}" for name in names]
    for job in of_kind(environment(stack), "MPIJob"):
        launcher = str(job.inputs["spec"]["mpiReplicaSpecs"]["Launcher"])
        assert "NCCL_IB_HCA==" + ",".join(f"mlx5_{number}" for number in hcas.split(",")) in launcher
        assert "NCCL_NET_GDR_LEVEL=PXB" in launcher
    assert (only_pool(settings).reserved.cpus, only_pool(settings).reserved.memory_gib) == (12, 64)


def test_bridges_are_offered_to_no_job() -> None:
    """Devices that look like HCAs and are none are in no object, and the plugin selects ports by their interfaces."""
    recorded = environment("b200-infiniband")
    bridges = [device.name for device in only_pool(load("b200-infiniband", ROOT)).machine.other_devices]
    assert bridges == ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]
    for manifest in manifests(recorded):
        assert not re.search(rf"({'|'.join(bridges)})(?![0-9])", str(manifest)), manifest["metadata"]
    config = json.loads(spec(recorded, "NicClusterPolicy")["rdmaSharedDevicePlugin"]["config"])
    for number, resource in enumerate(config["configList"]):
        assert resource["selectors"] == {"ifNames": [f"rail{number}"]}


@pytest.mark.parametrize("stack", ["b200-infiniband", "h200-infiniband"])
def test_mig_follows_from_the_gpu(stack: str) -> None:
    """A divided GPU has the seven slices of its architecture's file, and a node's ports are for as many pods."""
    content = data(stack) | {"stages": [], "suite": None}
    content["gpu"]["mig"] = "mixed"
    assert only_pool(parse(content, "test")).most_pods == 56
    content["fabric"]["hca_max"] = 55
    expect_refusal(content, "fabric.hca_max 55 … 56 pods …; give 56 or more")
