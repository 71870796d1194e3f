"""`./hpc hardware show`: what machines need beyond the cluster."""

import dataclasses
import io
import json
from collections.abc import Mapping
from typing import Any

import pytest

from components.jobs.mpi_job import MpiJobArgs
from core.hardware.measured import training
from core.hardware.profiles import PROFILES
from stacks.layers.job_arguments import of_job
from stacks.loading.settings import Settings
from stacks.resolved import jobs
from stacks.settings.cluster import NodeSettings
from stacks.settings.workloads import MpiWorkload
from tests.support.commands import run
from tests.support.machines import pcie_server
from tests.support.messages import has
from tests.support.recorded import OURS
from tests.support.stack_settings import only_pool
from toolkit.cli.hardware.show import command as plan
from toolkit.cli.hardware.show import machines, network, room, section
from toolkit.cli.hardware.show.room import Rack
from toolkit.cli.hardware.show.section import Section
from toolkit.cli.shared import console
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import read

_CROSSED = ((0, 1), (2, 3), (4, 5), (5, 6))


def _run(*arguments: str) -> Any:
    return run(plan.command, *arguments, "--json")


def _with(stack: str, count: int, profile: str) -> Settings:
    """Return a stack whose GPU nodes are others."""
    nodes = tuple(NodeSettings(name=f"gpu{number}", roles=("worker",), machine=profile) for number in range(count))
    return read(stack).settings.model_copy(update={"nodes": nodes})


def _network(settings: Settings) -> tuple[Section, ...]:
    return (*network.network(only_pool(settings), settings), *network.levels(settings))


def _nccl(settings: Settings) -> Section:
    return machines.nccl(only_pool(settings), settings)


@pytest.mark.parametrize("stack", OURS)
def test_every_stack_has_a_plan(stack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every stack of the project has a plan, and no table of it is cut on a terminal."""
    narrow = io.StringIO()
    for module in (section, console):
        monkeypatch.setattr(module, "console", console.new_console(file=narrow, width=80))
    found = plan.sections(read(stack).settings, None)
    for each in found:
        each.show()
        assert each.title in narrow.getvalue()
        assert all(note in narrow.getvalue() for note in each.notes)
        words = (word for row in each.rows for cell in row.values() for word in section.text(cell).split())
        assert [word for word in words if word not in narrow.getvalue()] == []
    names = [each.name.partition(" of pool")[0] for each in found]
    assert names[:3] == ["Machines", "Ports", "NCCL"]
    assert names[-1] == "Room"


def test_the_plan_says_where_jobs_use_no_gpudirect() -> None:
    """Of a machine with GPUs that reach every port over the sockets only, the level is that without GPUDirect."""
    settings = read("dev").settings
    far = dataclasses.replace(only_pool(settings), machine=pcie_server("SYS SYS NODE NODE", "SYS SYS NODE NODE"))
    found = machines.nccl(far, settings)
    assert found.rows[0]["NCCL_NET_GDR_LEVEL"] == "LOC"
    assert any("GPU 0, 1 reach every port over the link between sockets only" in note for note in found.notes)


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_jobs_get_what_the_plan_says(stack: str) -> None:
    """Jobs get the shares and ports that the plan has."""
    settings = read(stack).settings
    pool = only_pool(settings)
    variables, has = (section.rows[0] for section in (machines.nccl(pool, settings), machines.machines(pool)))
    *_, last = (job for job in jobs.every(settings) if isinstance(job.workload, MpiWorkload))
    job = of_job(last, settings)
    assert isinstance(job, MpiJobArgs)
    assert variables["NCCL_NET_GDR_LEVEL"] == job.gdr_level
    assert job.ib_hca in (None, variables["NCCL_IB_HCA"])
    assert (job.ib_hca is None) == any("no NCCL_IB_HCA" in note for note in machines.nccl(pool, settings).notes)
    cpus, memory = has["a job's CPUs for each GPU"], has["a job's memory for each GPU, GiB"]
    assert isinstance(cpus, int)
    assert isinstance(memory, int)
    gpus = job.layout.gpus
    assert (job.cpus, job.memory) == (gpus * cpus, f"{gpus * memory}Gi")


def test_what_machines_keep() -> None:
    """CPUs and memory that machines reserve are in the plan, with the pagepool where clients of Scale run."""
    row = machines.machines(only_pool(read("prod").settings)).rows[0]
    assert (row["machines"], row["GPUs"], row["reserved CPUs"]) == (4, 32, 128)
    assert (row["Scale pagepool, GiB"], row["reserved memory, GiB"]) == (None, 48)
    assert row["reserved CPUs of the kubelet"] == "0-3,128-131"
    lab = machines.machines(only_pool(read("dev").settings)).rows[0]
    assert (lab["Scale pagepool, GiB"], lab["reserved memory, GiB"]) == (128, 144)


@pytest.mark.parametrize(
    ("stack", "cables", "watts", "first"),
    [
        ("h100-roce", 32, 40800, "mlx5_0"),
        ("h200-infiniband", 32, 40800, "mlx5_0"),
        ("b200-infiniband", 16, 28600, "mlx5_4"),
    ],
)
def test_todays_machines_are_planned(stack: str, cables: int, watts: int, first: str) -> None:
    """Rails, cables and power of today's machines, which are in their files."""
    found = {each.name: each.rows for each in plan.sections(read(stack).settings, None)}
    assert next(row["HCA"] for row in found["Ports"] if row["rail"] == 0) == first
    assert found["Cables"][0]["cables of machines"] == cables
    assert found["Room"][0]["W of all"] == watts


def test_figures_of_gpus_are_the_documents() -> None:
    """V100 and A100 have the figures of the comparison, and what no document gives is not given."""
    figures = ("SMs", "L2 cache, KiB", "shared memory of a block, KiB", "memory, GB/s", "NVLink both ways, GB/s")
    found = {
        stack: machines.gpus(only_pool(read(stack).settings).machine).rows[0]
        for stack in ("dev", "superpod-a100", "h100-roce")
    }
    assert [found["dev"][each] for each in figures] == [80, 6144, 96, 900, 300]
    assert [found["superpod-a100"][each] for each in figures] == [108, 40960, 160, 1555, 600]
    assert found["dev"]["NVLink"] == "generation 2, hybrid cube mesh"
    assert (found["dev"]["TF32"], found["superpod-a100"]["TF32"]) == ("no", "yes")
    assert found["h100-roce"]["L2 cache, KiB"] is None


def test_ports_lie_to_gpus() -> None:
    """Each rail is beside the GPUs that are near it, with its interface's present name."""
    ports = machines.rails(only_pool(read("prod").settings)).rows
    assert [row["rail"] for row in ports] == [*range(8), "storage", "storage"]
    assert dict(ports[4]) == {
        "rail": 4,
        "HCA": "mlx5_6",
        "interface": "rail4",
        "NUMA": 7,
        "GPUs near": (4, 5),
        "path": "PXB",
        "PCI": "0000:8d:00.0",
    }
    assert [row["interface"] for row in machines.rails(only_pool(read("dev").settings)).rows] == [
        "ib0",
        "ib1",
        "ib2",
        "ib3",
    ]


def test_ports_that_share_some_gpus_are_reported() -> None:
    """GPUs that two ports with different GPUs list, and those that none lists, are noted; no known machine has any."""
    settings = read("dev").settings
    ports = [
        hca.model_copy(update={"gpus": gpus})
        for hca, gpus in zip(only_pool(settings).machine.hcas, _CROSSED, strict=True)
    ]
    notes = machines.rails(only_pool(settings.model_copy(update={"ports": tuple(ports)}))).notes
    assert any(has(note, "no port", "GPUs 7") for note in notes)
    assert any(has(note, "mlx5_2 and mlx5_3", "GPUs 5", "topo -m") for note in notes)
    everywhere = [note for profile in PROFILES for note in machines.rails(only_pool(_with("prod", 1, profile))).notes]
    assert not [note for note in everywhere if "are both near" in note]


def test_sockets_have_no_hca() -> None:
    """NCCL's variables on Ethernet name no adapters, which pods there do not have."""
    (row,) = _nccl(read("robotic-drive-ethernet").settings).rows
    assert dict(row) == {"NCCL_IB_DISABLE": "1", "NCCL_NET_GDR_LEVEL": "LOC", "NCCL_SOCKET_IFNAME": "eth0"}


def test_names_of_another_mode_are_reported() -> None:
    """A note says that interface names are those of InfiniBand mode where the fabric is Ethernet."""
    assert "the fabric is roce" in " ".join(machines.rails(only_pool(read("nvaie-roce").settings)).notes)
    assert machines.rails(only_pool(read("robotic-drive-ethernet").settings)).notes == ()


def _levels(found: section.Section) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in found.rows]


def test_a_pod_is_as_printed() -> None:
    """Switches and cables of a pod are those of the printed tables, not calculated ones."""
    compute, storage, levels = _network(read("superpod-a100").settings)
    assert _levels(compute) == [
        (1, 140, "leaf", 56, 1120, "1:1", "as printed"),
        (1, 140, "spine", 80, 1120, "2:1", "as printed"),
        (1, 140, "core", 28, 560, "none above", "as printed"),
    ]
    assert _levels(storage) == [
        (1, 140, "leaf", 14, 336, "3:2", "as printed"),
        (1, 140, "spine", 8, 224, "none above", "as printed"),
    ]
    assert _levels(levels) == [("leaf", f"pod-1-unit-{unit}", 20, 160) for unit in range(1, 8)]
    assert "5:4 of the machines' alone; the table prints 5:4" in " ".join(storage.notes)


def test_an_estimate_says_so() -> None:
    """Figures that no document has are marked as an estimate."""
    for found in _network(read("prod").settings):
        assert {row["figures"] for row in found.rows} == {"estimate"}
        assert any(note.startswith("estimate: ") for note in found.notes)


def test_more_than_a_pod() -> None:
    """Machines beyond one POD are planned as several PODs, with a note on the cables between them."""
    compute, storage, _ = _network(_with("superpod-a100", 300, "dgx-a100"))
    assert [(row["PODs"], row["machines"], row["level"]) for row in compute.rows] == [
        *((2, 140, level) for level in ("leaf", "spine", "core")),
        *((1, 20, level) for level in ("leaf", "spine")),
    ]
    for found in (compute, storage):
        (note,) = (each for each in found.notes if "between PODs" in each)
        assert note.startswith("3 PODs, ")
        assert "connected directly" in note
    (whole, *_) = _network(_with("superpod-a100", 280, "dgx-a100"))
    assert {(row["PODs"], row["machines"]) for row in whole.rows} == {(2, 140)}


def test_cables_of_the_lab() -> None:
    """Every port has its cable, and assumptions about the storage are notes."""
    (found,) = _network(read("dev").settings)
    assert [(row["host"], row["cables"], row["Gb/s of each"]) for row in found.rows] == [
        ("dgx01", 4, 100),
        ("dgx02", 4, 100),
        ("fscc-fab3-3-a", 4, 100),
        ("fscc-fab3-3-b", 4, 100),
    ]
    notes = " ".join(found.notes)
    assert has(notes, "16 cables", "1:1")
    assert "assumed: storage is an ESS3000" in notes


def test_the_storage_beside_the_lab_is_shown() -> None:
    """Its servers with their systems, its version and what it reads are notes of the plan."""
    (found,) = _network(read("redpaper-4.4").settings)
    notes = "\n".join(found.notes)
    assert has(notes, "IBM ESS 3000 reads 40 GB/s in 2 units", "ports carry 100")
    assert has(
        notes, "Storage Scale 5.0.4.3", "2 x canister with RHEL 8.1", "1 x Lenovo SR650 with RHEL 7.6 (GUI, REST"
    )


def test_a_lab_too_large_for_its_switch() -> None:
    """Machines with more cables than the lab's switch has ports get no plan of switches, and a note says why."""
    (found,) = _network(_with("dev", 9, "dgx1-v100-16gb"))
    assert found.rows == ()
    assert has(found.notes[0], "44 cables", "40 ports")


def test_what_no_document_gives_is_reported() -> None:
    """A machine whose ports, NUMA nodes, power and height no document gives is planned, and the gaps are notes."""
    found = {each.name: each for each in plan.sections(_with("superpod-a100", 4, "dgx2h"), Rack(units=40, watts=9000))}
    assert found["Machines"].rows[0]["reserved CPUs of the kubelet"] is None
    assert found["Ports"].rows == ()
    assert has(found["Ports"].notes[0], "8 ports", "dgx2h")
    assert set(found["NCCL"].rows[0].values()) >= {None}
    assert found["Cables"].rows[0]["cables of machines"] == 32
    assert found["Cables"].notes == ("no document plans switches for dgx2h on infiniband without Scale",)
    assert set(found["Room"].rows[0].values()) == {None}
    assert has(found["Room"].notes[0], "power and height", "dgx2h")
    assert "power_watts and rack_units (`machines`)" in found["Room"].notes[0]


def _room(*arguments: str) -> Mapping[str, Any]:
    found = json.loads(_run(*arguments).stdout)["Room"]["rows"][0]
    assert isinstance(found, dict)
    return found


def test_racks() -> None:
    """Racks are counted by units and power where both are given, and not otherwise."""
    assert "racks" not in _room("--stack", "superpod-a100")
    room = _room("--stack", "superpod-a100", "--rack-units", "40", "--rack-watts", "30000")
    assert (room["W of all"], room["rack units of all"]) == (910000, 840)
    assert (room["machines in a rack"], room["racks"]) == (4, 35)
    by_height = _room("--stack", "superpod-a100", "--rack-units", "42", "--rack-watts", "60000")
    assert (by_height["machines in a rack"], by_height["racks"]) == (7, 20)


def test_a_rack_that_is_none() -> None:
    """Racks need units and power together, and room for at least one machine."""
    alone = _run("--stack", "prod", "--rack-units", "40").exception
    assert isinstance(alone, Problem)
    assert "--rack-units and --rack-watts together" in str(alone)
    small = _run("--stack", "prod", "--rack-units", "5", "--rack-watts", "30000").exception
    assert isinstance(small, Problem)
    assert has(str(small), "5 units and 30000 W", "holds no dgx-a100", "--rack-units and --rack-watts")
    assert _run("--rack-units", "0", "--rack-watts", "1").exit_code == 2


def test_list_of_parts() -> None:
    """Parts are counted for the machines of the stack, and contradictions of the document are notes."""
    (found,) = room.parts(only_pool(read("supermicro-3.11").settings))
    assert [(row["role"], row["nodes"]) for row in found.rows][-1] == ("gpu", 1)
    assert "32 ports of 25 Gb/s" in found.notes[0]
    assert (
        "switches: SSE-X3348TR of 10 Gb/s for management (number not given); SSE-C3632S of 100 Gb/s (number not given)"
        in found.notes
    )
    assert any("app: no parts are listed" in note for note in found.notes)
    assert not any("the stack" in note for note in found.notes)
    assert "the list has 1 GPU nodes, the stack 3" in room.parts(only_pool(_with("dev", 3, "sys-4029gp-tvrt")))[0].notes
    assert room.parts(only_pool(read("dev").settings)) == ()


def test_json_is_for_programs() -> None:
    """The JSON has numbers, and null for what is not known."""
    found = json.loads(_run("--stack", "dev").stdout)
    assert found["Machines"]["rows"][0]["GPUs"] == 16
    assert found["Ports"]["rows"][0]["GPUs near"] == [0, 1]
    assert found["Room"]["rows"][0]["W of all"] is None
    assert found["Ports"]["source"] == "D-3.6"


def test_figures_of_the_documents_are_shown() -> None:
    """Caches, clocks, disks, temperatures, supplies and fans are those that the documents print."""
    (a100,) = _chassis("dgx-a100").rows
    assert a100["local disks"] == "2 x 1,920 GB M.2 NVMe (system), 4 x 3,860 GB U.2 NVMe (data)"
    assert a100["room, degrees Celsius"] == "5 to 30"
    assert (a100["L2 cache of a core, KiB"], a100["L3 cache of a processor, KiB"]) == (512, 256 * 1024)
    assert a100["lowest, base and highest clock, MHz"] == "1,500 / 2,250 / 3,400"
    assert (a100["cTDP of a processor, W"], a100["PCIe generation"], a100["NUMA nodes of a socket"]) == (225, 4, 4)
    (dgx2h,) = _chassis("dgx2h").rows
    assert (dgx2h["L2 cache of a core, KiB"], dgx2h["L3 cache of a processor, KiB"], dgx2h["PCIe generation"]) == (
        1024,
        33792,
        3,
    )
    (server,) = _chassis("sys-4029gp-tvrt").rows
    assert (server["power supplies"], server["fans"], server["drive bays"]) == ("8 of 2,200 W, 2 to spare", 8, 16)
    assert machines.chassis(PROFILES["dgx-h100"]) is None


def _chassis(machine: str) -> Section:
    found = machines.chassis(PROFILES[machine])
    assert found is not None
    return found


def test_tensor_cores_of_the_documents_are_shown() -> None:
    """Formats of tensor cores, and the factors that NVIDIA gives, are by generation."""
    (v100,) = machines.gpus(PROFILES["sys-4029gp-tvrt"]).rows
    assert (v100["tensor cores"], v100["TF32"]) == ("FP16", "no")
    assert v100["tensor cores against the generation before"] == "12 x in training, 6 x in inference"
    (a100,) = machines.gpus(PROFILES["dgx-a100"]).rows
    assert a100["tensor cores"] == "FP64, TF32, BF16, FP16, INT8, INT4, B1"
    assert a100["tensor cores against the generation before"] == "2 x on sparse matrices"


def test_published_minutes_scale() -> None:
    """Rows of the same submitter, accelerator and software have the efficiency against the compared one."""
    found = machines.published(PROFILES["sys-4029gp-tvrt"])
    assert found is not None
    base = training.submission()
    assert base.accelerators == 8
    for row in found.rows:
        (other,) = (one for one in training.MLPERF if one.id == row["id"])
        assert (other.submitter, other.accelerator) == (base.submitter, base.accelerator)
        assert other.accelerators
        minutes = other.minutes[str(row["benchmark"])]
        assert row["minutes"] == f"{minutes:g}"
        assert row["efficiency"] == f"{base.minutes[str(row['benchmark'])] * 8 / (minutes * other.accelerators):.0%}"
    assert {row["benchmark"] for row in found.rows} == {*base.minutes}
    assert len(found.rows) >= 12
    assert machines.published(PROFILES["dgx-a100"]) is None


def test_what_a_fleet_records() -> None:
    """Half a TB to 1.1 TB of a vehicle in eight hours, times the vehicles, and the rate to take it in."""
    found = json.loads(_run("--stack", "dev", "--fleet", "100").stdout)
    (rows,) = (part for name, part in found.items() if name.startswith("Recordings of 100 vehicles"))
    figures = [(row["of the fleet, TB a day"], row["GB/s to take it in within a day"]) for row in rows["rows"]]
    assert figures == [("50.0", "0.58"), ("110.0", "1.27")]
    assert found["Public data sets"]["rows"][0]["C4"] == "745 GB"
    assert not any(name.startswith("Recordings") for name in json.loads(_run("--stack", "dev").stdout))
