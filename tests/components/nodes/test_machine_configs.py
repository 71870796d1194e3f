"""Kernel arguments and names of interfaces, as MachineConfigs."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.base.component import Component
from components.nodes.kernel_arguments import KernelArguments, KernelArgumentsArgs, arguments
from components.nodes.machine_config import Ignition
from components.nodes.rail_names import PATH, LinkLayer, RailNames, RailNamesArgs, rules
from core.hardware.topology import rails
from policies.manifests.objects import Obj
from policies.views.nodes import texts
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only
from tests.support.machines import DGX1_V100_16GB, DGX_A100

VERSIONS: tuple[Ignition, ...] = ("2.2.0", "3.2.0")


def kernel(**changed: Any) -> list[Manifest]:
    """Return what the kernel arguments are declared by."""
    args = KernelArgumentsArgs.model_validate({"ignition_version": "3.2.0", **changed})
    return declared(lambda: KernelArguments("kernel-arguments", args))


def names(version: Ignition = "3.2.0", link_layer: LinkLayer = "InfiniBand") -> list[Manifest]:
    """Return what the names of a DGX A100's rails are declared by."""
    args = RailNamesArgs(ignition_version=version, link_layer=link_layer, rails=rails(DGX_A100))
    return declared(lambda: RailNames("rail-names", args))


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, ["iommu=pt", "modprobe.blacklist=nouveau", "nouveau.modeset=0"]),
        ({"iommu_passthrough": False, "nouveau": True}, []),
        ({"nouveau": True, "further_arguments": ("a=b", "c")}, ["iommu=pt", "a=b", "c"]),
    ],
)
def test_arguments_are_one_word_each_and_in_order(changed: dict[str, Any], expected: list[str]) -> None:
    """Kernel arguments are single words in a fixed order."""
    assert only(kernel(**changed), "MachineConfig")["spec"]["kernelArguments"] == expected


def test_two_arguments_in_one_are_refused() -> None:
    """An argument with a space is refused."""
    with pytest.raises(ValidationError):
        KernelArgumentsArgs(ignition_version="3.2.0", further_arguments=("a b",))


def test_selinux_stays_on_unless_said_and_our_rule_sees_it() -> None:
    """SELinux is enforcing by default, and a policy finds permissive."""
    assert "enforcing=0" not in arguments(KernelArgumentsArgs(ignition_version="3.2.0"))
    assert faults(kernel()) == []
    (fault,) = faults(kernel(selinux="permissive"))
    assert fault.startswith("selinux-enforcing:")


@pytest.mark.parametrize("version", VERSIONS)
def test_machine_configs_have_the_shape_of_their_definition(version: Ignition) -> None:
    """MachineConfigs match their definition, and the policies have no finding."""
    for found in (kernel(ignition_version=version), names(version)):
        made = only(found, "MachineConfig")
        expect_conformity(made)
        assert made["metadata"]["labels"]["machineconfiguration.openshift.io/role"] == "worker"
        assert made["spec"]["config"]["ignition"] == {"version": version}
        assert faults(found) == []


@pytest.mark.parametrize(("version", "key"), [("2.2.0", "filesystem"), ("3.2.0", "overwrite")])
def test_file_is_what_ignition_of_that_version_reads(version: Ignition, key: str) -> None:
    """The file has the form of its Ignition version, 2 or 3."""
    made = only(names(version), "MachineConfig")
    (file,) = made["spec"]["config"]["storage"]["files"]
    assert file.keys() == {"path", "mode", "contents", key}
    assert (file["path"], file["mode"]) == (PATH, 0o644)
    (text,) = texts(Obj(made, None))
    assert text.text == rules(rails(DGX_A100), "InfiniBand")


def test_every_rail_has_its_name_by_its_address() -> None:
    """Every port gets its own name by its PCI address."""
    lines = rules(rails(DGX_A100), "InfiniBand").splitlines()
    assert len(lines) == 8
    assert lines[0] == (
        'ACTION=="add", SUBSYSTEM=="net", KERNEL!="*.*", KERNELS=="0000:0c:00.0", ATTR{type}=="32", NAME="rail0"'
    )
    assert len({line.split("NAME=")[1] for line in lines}) == len({line.split("KERNELS==")[1] for line in lines}) == 8
    assert 'ATTR{type}=="1"' in rules(rails(DGX_A100), "Ethernet")


def test_ports_without_address_are_refused() -> None:
    """Ports without a PCI address are refused."""
    with pytest.raises(ValidationError, match="no PCI address of mlx5_0 is known"):
        RailNamesArgs(ignition_version="3.2.0", link_layer="InfiniBand", rails=rails(DGX1_V100_16GB))


@pytest.mark.parametrize("changed", [{}, {"nouveau": True}])
def test_parts_name_what_was_made_and_change_with_it(changed: dict[str, Any]) -> None:
    """`parts` has the MachineConfig's name and a digest of its content."""
    made: list[Component] = []
    args = KernelArgumentsArgs.model_validate({"ignition_version": "3.2.0", **changed})

    def build() -> None:
        made.append(KernelArguments("kernel-arguments", args))

    found = declared(build)
    (one,) = made
    assert isinstance(one, KernelArguments)
    assert list(one.parts) == [only(found, "MachineConfig")["metadata"]["name"]]
    assert (set(one.parts.values()) == _plain()) is (changed == {})


def _plain() -> set[str]:
    made: list[KernelArguments] = []
    declared(lambda: made.append(KernelArguments("k", KernelArgumentsArgs(ignition_version="3.2.0"))))
    return set(made[0].parts.values())
