"""Interfaces named after the rails of the fabric, the same on every node.

The kernel and systemd name interfaces by driver and PCI bus, and a changed card or kernel names them otherwise; then
the RDMA device plugin offers a resource with nothing behind it. A udev rule by PCI address gives names that stay.
"""

from collections.abc import Iterable
from typing import Literal, Self

import pulumi
from pydantic import Field, model_validator

from components.base.component import Component
from components.base.model import DnsName, Model
from components.nodes.machine_config import Ignition, digest, file, machine_config
from core.hardware.topology import Rail

PATH = "/etc/udev/rules.d/70-persistent-net.rules"
LinkLayer = Literal["InfiniBand", "Ethernet"]
_TYPES: dict[LinkLayer, int] = {"InfiniBand": 32, "Ethernet": 1}
"""Hardware type of an interface, as the kernel numbers it (ARPHRD)."""


class RailNamesArgs(Model):
    """Which interfaces, and for which pool."""

    pool: DnsName = Field(default="worker", description="MachineConfigPool of the GPU nodes; its nodes reboot")
    ignition_version: Ignition = Field(description="2.2.0 up to OpenShift 4.5, 3.x from 4.6 on")
    link_layer: LinkLayer = Field(description="of the ports as they run, which on RoCE is Ethernet")
    rails: tuple[Rail, ...] = Field(min_length=1, description="core.hardware.topology.rails of the machine")

    @model_validator(mode="after")
    def _rails_have_addresses(self) -> Self:
        lost = [rail.hca.name for rail in self.rails if rail.hca.pci is None]
        if lost:
            raise ValueError(f"rails: no PCI address of {lost[0]} is known, so no rule finds it; give it (with_hcas)")
        return self


def rules(rails: Iterable[Rail], link_layer: LinkLayer) -> str:
    """Return the udev rules, a line for each rail; child interfaces (ib0.8001) are left alone."""
    kind = _TYPES[link_layer]
    return "".join(
        f'ACTION=="add", SUBSYSTEM=="net", KERNEL!="*.*", KERNELS=="{rail.hca.pci}", ATTR{{type}}=="{kind}", '
        f'NAME="{rail.name}"\n'
        for rail in rails
    )


class RailNames(Component):
    """A MachineConfig; a PoolRollout waits for it, with its `parts`. Outputs: `machine_config`, its name."""

    machine_config: pulumi.Output[str]

    def __init__(self, name: str, args: RailNamesArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:RailNames", name, args, opts)
        config_name = f"50-{args.pool}-rail-names"
        config = {
            "ignition": {"version": args.ignition_version},
            "storage": {"files": [file(args.ignition_version, PATH, rules(args.rails, args.link_layer))]},
        }
        config_object = machine_config(
            self, name, args.pool, {"config": config}, config_name=config_name, subject="rail-names"
        )
        self.parts = {config_name: digest(config)}
        self.outputs(machine_config=config_object.id.apply(lambda _: config_name))
