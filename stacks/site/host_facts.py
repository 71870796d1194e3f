"""What a stack's settings mean for its GPU hosts."""

from typing import Literal

from pydantic import Field

from core.model import Model


class HostFacts(Model):
    """Facts that all GPU hosts share."""

    driver: Literal["host", "special-resource-operator", "gpu-operator"] = Field(
        description="who brings the GPU driver"
    )
    pool: str = Field(description="their machine config pool")
    interfaces: tuple[str, ...] = Field(
        description="network interfaces of the compute ports, in the order of the rails"
    )
    network_operator: str | None = Field(description="namespace of the Network Operator; None: there is none")
    memlock_by_host: bool = Field(description="pods need locked memory, and no MachineConfig gives it")
