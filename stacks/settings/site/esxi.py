"""Setting `site.esxi`: hosts of ESXi, and virtual machines with GPUs and adapters that reach each other."""

import re
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from core.model import Model, merged_by
from core.wording import duplicates

_SBDF = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]")


def _sbdf(text: str) -> str:
    """Return an address; raise ValueError for what is none."""
    if not _SBDF.fullmatch(text):
        raise ValueError(
            f"{text} is not a PCI address: write segment, bus, device and function in lower-case hex, e.g. 0000:3b:02.3"
        )
    return text


Sbdf = Annotated[str, AfterValidator(_sbdf)]
"""A PCI address as ESXi prints it: segment, bus, device, function."""
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?$")]


class GuestMachine(Model):
    """One virtual machine."""

    name: Name = Field(description="name in vCenter, and of the file with its keys")
    host: Name = Field(description="one of `hosts`")
    gpus: dict[Annotated[int, Field(ge=0, le=15)], Sbdf] = Field(
        default={},
        description="number of its passthrough device -> PCI address of the GPU, or of its virtual function under "
        "SR-IOV; none: vSphere chooses",
    )
    numa_node: int | None = Field(
        default=None, ge=0, description="NUMA node of its GPU and its adapter; None: not read yet"
    )
    adapter: str | None = Field(
        default=None,
        pattern=r"^/dev/mst/\w+$",
        description="its adapter, as `mst status` in the machine names it, e.g. /dev/mst/mt4123_pciconf0",
    )


class EsxiSettings(Model):
    """ESXi hosts and virtual machines."""

    hosts: tuple[Name, ...] = Field(min_length=1, description="names of the ESXi hosts")
    machines: tuple[GuestMachine, ...] = Field(
        min_length=1, description="virtual machines that train together", json_schema_extra=merged_by("name")
    )

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        for name in duplicates((*self.hosts, *(machine.name for machine in self.machines))):
            raise ValueError(f"{name} is given twice; give each host and each machine its own name")
        taken: dict[tuple[str, str], str] = {}
        for machine in self.machines:
            if machine.host not in self.hosts:
                raise ValueError(f"machines: {machine.name}: host {machine.host} is none of hosts; correct it")
            for address in machine.gpus.values():
                place = (machine.host, address)
                if place in taken:
                    raise ValueError(
                        f"machines: {machine.name}: GPU {address} of {machine.host} is taken by {taken[place]}; "
                        "give another one"
                    )
                taken[place] = machine.name
        return self
