"""Bills of material."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.machines import DGX_A100, SYS_4029GP_TVRT
from toolkit.cli.hardware.show.bom import BILLS, Bom, Chassis, Drives, against, differences, total

SUPERMICRO = BILLS["supermicro"]


def changed(role: str, part: str, **fields: Any) -> Bom:
    """Return the Supermicro reference's list with another figure in one part of a node."""
    node = SUPERMICRO.nodes[role]
    other = node.model_copy(update={part: getattr(node, part).model_copy(update=fields)})
    return SUPERMICRO.model_copy(update={"nodes": {**SUPERMICRO.nodes, role: other}})


def test_what_document_001_states_differently() -> None:
    """The totals that the Supermicro reference states differently are found."""
    assert set(differences(SUPERMICRO)) == {
        "app: no parts are listed",
        "bastion: the parts are of a 1029-TRT, the machines are SYS-1029U-E1CRT",
        "master: SSD of 960 GB, stated 480, which is one side of a mirror",
        "infra: SSD of 3840 GB, stated 1920, which is one side of a mirror",
    }


def test_roles_fill_the_chassis() -> None:
    """Every role has its nodes: two chassis of four make eight."""
    assert SUPERMICRO.roles == {"master": 3, "infra": 3, "app": 2, "bastion": 1, "gpu": 1}
    assert SUPERMICRO.chassis[0].nodes == 8
    fewer = Chassis(server="SYS-2029BT-HNC1R", quantity=1, nodes_each=4, roles={"master": 3, "infra": 3, "app": 2})
    found = differences(SUPERMICRO.model_copy(update={"chassis": (fewer, *SUPERMICRO.chassis[1:])}))
    assert "SYS-2029BT-HNC1R: 4 nodes, and roles for 8" in found


def test_a_role_without_a_machine_is_found() -> None:
    """A role without a machine is found."""
    found = differences(SUPERMICRO.model_copy(update={"chassis": SUPERMICRO.chassis[:1]}))
    assert "gpu: no machine has this role" in found


@pytest.mark.parametrize(
    ("bom", "message"),
    [
        (changed("infra", "memory", count=8), "infra: 256 GiB of memory, stated 512"),
        (changed("gpu", "memory", mhz=2666), "gpu: memory MEM-DR432L-SL01-ER29 is of 2933 MHz, stated 2666"),
        (changed("bastion", "cpus", cores=10), "bastion: 40 threads, stated 48"),
    ],
)
def test_each_figure_is_calculated(bom: Bom, message: str) -> None:
    """Every figure is calculated from the parts."""
    assert set(differences(bom)) - set(differences(SUPERMICRO)) == {message}


@pytest.mark.parametrize(("stated", "use"), [(6000, "raw"), (3000, "mirrored"), (4000, "other")])
def test_sizes_are_distinguished(stated: int, use: str) -> None:
    """Raw and usable sizes are distinguished."""
    assert Drives(kind="NVMe", count=3, drive_gb=2000, stated_gb=stated).stated_as == use


def test_totals_are_of_all_nodes() -> None:
    """Ports are counted over all nodes."""
    whole = total(SUPERMICRO)
    assert whole.ports_25 == 12 + 12 + 4 + 4
    assert (whole.nodes, whole.gpus) == (8, 8)
    assert whole.cores == 7 * 40 + 24
    assert whole.memory_gib == 3 * 128 + 3 * 512 + 128 + 768
    assert whole.raw_gb == 3 * (960 + 6000) + 3 * 3840 + 960 + 3800


def test_the_gpu_server_is_its_profile() -> None:
    """The GPU server of the list equals its hardware profile."""
    assert against(SUPERMICRO.nodes["gpu"], SYS_4029GP_TVRT) == ()
    assert "dgx-a100: 40 cores in the list of parts, 128 in the profile" in against(SUPERMICRO.nodes["gpu"], DGX_A100)


@pytest.mark.parametrize("wrong", [{"count": 0}, {"kind": "tape"}, {"drive_gb": -1}])
def test_parts_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    """Counts and sizes of zero or less are refused."""
    with pytest.raises(ValidationError):
        Drives.model_validate({"kind": "SSD", "count": 2, "drive_gb": 480, "stated_gb": 480, **wrong})
