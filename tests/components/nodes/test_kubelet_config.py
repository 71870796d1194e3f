"""How kubelets share out CPUs and memory."""

from typing import Any

import pytest

from components.nodes.kubelet_config import KubeletConfig, for_machine, kubelet
from core.hardware import cpus
from core.hardware.placement import share
from core.hardware.profiles import Profile
from core.hardware.topology import pagepool_gib, reserve
from tests.conformance.schema import expect_conformity
from tests.support.declared import declared, faults, only
from tests.support.machines import DGX1_V100_16GB, DGX2H, DGX_A100, SYS_4029GP_TVRT
from tests.support.recorded import component, only_object


@pytest.mark.parametrize("machine", [DGX_A100, DGX1_V100_16GB], ids=lambda each: each.name)
@pytest.mark.parametrize("memory_manager", [False, True])
def test_it_has_the_shape_of_its_definition(machine: Profile, memory_manager: bool) -> None:
    """The object matches its definition, and the policies have no finding."""
    args = for_machine(machine, memory_manager=memory_manager)
    found = declared(lambda: KubeletConfig("kubelet", args))
    made = only(found, "KubeletConfig")
    expect_conformity(made)
    assert made["spec"]["machineConfigPoolSelector"]["matchLabels"] == {
        "pools.operator.machineconfiguration.openshift.io/worker": ""
    }
    assert faults(found) == []


def test_kubelet_gets_the_fields_that_it_knows() -> None:
    """All fields are fields of the kubelet's own configuration."""
    assert kubelet(for_machine(DGX_A100, topology_policy="restricted", topology_scope="pod")) == {
        "cpuManagerPolicy": "static",
        "cpuManagerReconcilePeriod": "5s",
        "reservedSystemCPUs": "0-3,128-131",
        "systemReserved": {"memory": "1Gi"},
        "topologyManagerPolicy": "restricted",
        "topologyManagerScope": "pod",
    }


def test_whole_machines_stay_schedulable() -> None:
    """A job with all of a machine's GPUs fits beside the reserved memory."""
    part = share(DGX_A100, DGX_A100.gpus, reserve(DGX_A100))
    kept = DGX_A100.memory_gib - part.memory_gib - for_machine(DGX_A100).reserved_memory_gib
    assert kept >= pagepool_gib(DGX_A100) + 8, "the pagepool, and room for what firmware, kernel and agents take"


def test_reserved_cpus_leave_the_gpus_their_neighbours() -> None:
    """Reserved CPUs are on NUMA nodes without GPUs first."""
    reserved = cpus.parse(for_machine(DGX_A100).reserved_cpus)
    assert not any(reserved & node.cpu_set for node in DGX_A100.numa if node.gpus)


@pytest.mark.parametrize("machine", [DGX_A100, DGX1_V100_16GB], ids=lambda each: each.name)
@pytest.mark.parametrize("gib", [1, 5])
def test_reserved_memory_of_all_nodes_is_what_is_reserved_in_all(machine: Profile, gib: int) -> None:
    """Reserved memory of all NUMA nodes adds up to the total, with the eviction threshold."""
    fields = kubelet(for_machine(machine, memory_manager=True, reserved_memory_gib=gib))
    amounts = [int(entry["limits"]["memory"].removesuffix("Mi")) for entry in fields["reservedMemory"]]
    assert fields["systemReserved"] == {"memory": f"{gib}Gi"}
    assert sum(amounts) == gib * 1024 + 100
    assert [entry["numaNode"] for entry in fields["reservedMemory"]] == [node.id for node in machine.numa]
    assert max(amounts) - min(amounts) < len(amounts)


@pytest.mark.parametrize("machine", [DGX2H, SYS_4029GP_TVRT], ids=lambda each: each.name)
def test_machines_without_numa_map_are_refused_in_words(machine: Profile) -> None:
    """A machine without a NUMA map is refused with the reason."""
    with pytest.raises(ValueError, match=f"{machine.name}: no document gives its NUMA nodes; leave the CPU"):
        for_machine(machine)


def test_parts_of_cores_are_refused() -> None:
    """CPUs are reserved in whole cores."""
    with pytest.raises(ValueError, match="reserve whole cores"):
        for_machine(DGX_A100, 7)


def test_acceptance_is_waited_for_and_the_generated_name_is_told() -> None:
    """The provider waits for acceptance, and `parts` has the generated MachineConfig."""
    made: list[KubeletConfig] = []
    args: dict[str, Any] = {"pool": "gpu", "pool_labels": {"custom": "yes"}}
    recorded = component(lambda: made.append(KubeletConfig("kubelet", for_machine(DGX_A100, **args))))
    inputs = only_object(recorded, "KubeletConfig").inputs
    assert inputs["metadata"]["annotations"]["pulumi.com/waitFor"] == "condition=Success"
    assert inputs["spec"]["machineConfigPoolSelector"] == {"matchLabels": {"custom": "yes"}}
    assert list(made[0].parts) == ["99-gpu-generated-kubelet"]
