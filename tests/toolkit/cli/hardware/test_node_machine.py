"""Round trip: what the simulated node of every machine prints gives the machine back."""

from pathlib import Path
from typing import Any

import pytest

from core.hardware.profiles import PROFILES, Profile, read_machine
from core.hardware.profiles.records import MEMORY_REPORTED
from core.hardware.topology import nccl_ib_hca
from stacks.loading.settings import SettingsError, parse
from tests.support.messages import has
from tests.support.node_outputs import rails
from tests.support.simulated_nodes import NODE, job_log, labels
from tests.support.stack_settings import data, only_pool
from toolkit.cli.hardware import machine_file
from toolkit.cli.hardware.from_logs import found_in, readings_of
from toolkit.cli.hardware.machine_file import MachineFields
from toolkit.evidence.model import Reading

BY_DOCUMENTS = {"name", "source", "sources", "reference_design", "power_watts", "rack_units", "weight_kg", "facts"}
"""Fields that no tool prints."""
COUNTED = {"storage_ports", "storage_hcas", "inband_ports", "inband_hcas", "other_devices"}
"""What ports that are not rails are for, no tool prints: they are `other_devices`."""
UNLIKE = (
    BY_DOCUMENTS | COUNTED | {"model", "memory_gib", "memory_options_gib", "gpu", "gpu_buses", "hcas", "numa", "nvlink"}
)
"""Fields that the test compares by themselves, or that the simulated node has from nowhere."""
NOT_PRINTED = {"dgx2h": {"numa", "nvlink", "link_layer", "ports", "hcas"}}
NOT_PRINTED["sys-4029gp-tvrt"] = NOT_PRINTED["dgx2h"]
"""What is open beside the model, of machines whose documents give no matrix and no names of ports."""


def _made(known: Profile, **how: Any) -> MachineFields:
    return found_in(_readings(known, **how))


def _readings(known: Profile, **how: Any) -> list[Reading]:
    return readings_of(NODE, labels(known), job_log(known, **how))


def _file(known: Profile, **how: Any) -> str:
    return machine_file.text(_made(known, **how), _readings(known, **how), "discover")


@pytest.mark.parametrize("name", PROFILES)
def test_a_machine_is_given_back(name: str, tmp_path: Path) -> None:
    """All fields are as in its file, but for those that no tool prints; what is open is listed in the file."""
    known = PROFILES[name]
    made = _made(known)
    assert made.missing.keys() == {"model", *NOT_PRINTED.get(name, ())}
    if name in NOT_PRINTED:
        return
    file = tmp_path / f"{name}.yaml"
    file.write_text(f"{_file(known)}model: any\n".replace("to_complete: [model]\n", ""))
    again = read_machine(file)
    same = Profile.model_fields.keys() - UNLIKE - ({"cpu_model"} if known.cpu_model is None else set())
    assert {field: getattr(again, field) for field in same - {"ports"}} == {
        field: getattr(known, field) for field in same - {"ports"}
    }
    assert (again.ports.count, again.ports.rate_gbps) == (known.ports.count, known.ports.rate_gbps)
    assert known.ports.adapter.startswith(again.ports.adapter)
    assert again.gpu == known.gpu
    assert again.memory_gib == int(known.memory_gib * MEMORY_REPORTED)
    assert [(node.id, node.cpus, node.gpus) for node in again.numa] == [
        (node.id, node.cpus, node.gpus) for node in known.numa
    ]
    assert again.nvlink.links == known.nvlink.links


@pytest.mark.parametrize("name", [name for name in PROFILES if name not in NOT_PRINTED])
def test_ports_are_given_back(name: str) -> None:
    """Rails have their names, places, interfaces and addresses; all other devices are listed, and offered to no job."""
    known = PROFILES[name]
    fields = _made(known).fields
    for made, hca in zip(fields["hcas"], known.hcas, strict=True):
        assert (made["name"], made["netdev"], made["numa"], made["rate_gbps"]) == (
            hca.name,
            hca.interface,
            hca.numa,
            hca.rate_gbps,
        )
        assert (tuple(made["gpus"]), made["distance"]) == (hca.gpus, hca.distance)
        assert hca.pci in (None, made["pci"])
        assert hca.distances in ((), tuple(made["distances"]))
    others = {device.name for device in known.devices if device not in known.hcas}
    assert {device["name"] for device in fields.get("other_devices", ())} == others


@pytest.mark.parametrize("host_network", [True, False])
def test_the_bridges_of_nvswitches_are_never_rails(host_network: bool) -> None:
    """On a node whose bridges are mlx5_0 to mlx5_3, these are among neither the rails nor what is counted."""
    made = _made(PROFILES["dgx-b200"], host_network=host_network)
    assert {name for name, _, _ in rails(made)} == {f"mlx5_{number}" for number in (4, 7, 8, 9, 10, 13, 14, 15)}
    assert made.fields["ports"]["count"] == 8
    assert {f"mlx5_{number}" for number in range(4)} <= {device["name"] for device in made.fields["other_devices"]}


def test_without_the_network_of_the_node_interfaces_are_open() -> None:
    """Rails and addresses are known by sysfs and lspci; interfaces are null, which the file says."""
    known = PROFILES["dgx-h100"]
    made = _made(known, host_network=False)
    assert [(hca["netdev"], hca["pci"]) for hca in made.fields["hcas"]] == [(None, hca.pci) for hca in known.hcas]
    assert has(
        _file(known, host_network=False),
        "# - hcas: netdev: null where no output names the interface",
        "RDMA needs it",
        "rail_names",
    )


def test_without_gpus_the_processors_are_known() -> None:
    """A pod without GPUs shows what needs none; GPUs are counted by lspci, and their places are open."""
    known = PROFILES["dgx-a100"]
    made = _made(known, gpus=0)
    assert (made.fields["gpus"], made.fields["cpu_cores"]) == (known.gpus, known.cpu_cores)
    assert {"nvlink", "hcas", "numa"} <= made.missing.keys()


def test_labels_alone_make_a_file() -> None:
    """Of a node of which only the labels are known, the file has their fields, and lists the others."""
    known = PROFILES["dgx-h200"]
    readings = readings_of(NODE, labels(known), "")
    made = found_in(readings)
    assert {"gpus": known.gpus, "gpu": "hopper/h200-141gb"}.items() <= made.fields.items()
    open_fields = "to_complete: [model, cpu_cores, memory_gib, numa, nvlink, link_layer, ports, hcas]"
    assert open_fields in machine_file.text(made, readings, "discover")


def test_a_stack_with_a_discovered_machine_offers_no_bridge(tmp_path: Path) -> None:
    """Interfaces and NCCL_IB_HCA are those of the eight rails, and a job that names a bridge is refused."""
    (tmp_path / "ours.yaml").write_text(
        f"{_file(PROFILES['dgx-b200'])}model: any\n".replace("to_complete: [model]\n", "")
    )
    content = data("superpod-a100") | {"machines": ["ours.yaml"]}
    del content["queues"]["topology"]  # by the reference design's cabling, which an own machine has not
    for node in content["nodes"]:
        node["machine"] = "ours" if node.get("machine") else None
    for workload in content["stages"][0]["workloads"]:
        workload.pop("topology", None)
    with pytest.raises(SettingsError, match="hca 'mlx5_0' is not one of ours: mlx5_4, mlx5_7"):
        parse(content, "test", root=tmp_path)
    settings = parse(content | {"stages": [], "builds": []}, "test", root=tmp_path)
    rails_of_eight = [f"mlx5_{number}" for number in (4, 7, 8, 9, 10, 13, 14, 15)]
    assert only_pool(settings).machine.name == "ours"
    assert [hca.name for hca in only_pool(settings).machine.hcas] == rails_of_eight
    assert nccl_ib_hca(only_pool(settings).machine.hcas) == f"={','.join(rails_of_eight)}"
    assert [*only_pool(settings).interfaces] == [
        f"rail{number}" for number in range(8)
    ]  # by the addresses of these eight
