"""Faults of a node's GPUs and bridges, as users and tests set them: each is a cause, and what it does follows."""

import logging

from pydantic import Field, ValidationError

from core.model import Model

log = logging.getLogger(__name__)


class NodeFaults(Model):
    """What is wrong with one node. GPUs are named by their number on the machine, in JSON as text."""

    acs: bool = Field(
        default=False, description="whether PCIe bridges send traffic between devices to the CPU (ACS), GPUDirect's too"
    )
    pcie_width: dict[int, int] = Field(default={}, description="GPU -> lanes of its PCIe link, e.g. 8 of 16")
    nvlinks_in_recovery: dict[int, int] = Field(default={}, description="GPU -> NVLinks that are in recovery, not up")
    sm_mhz: dict[int, int] = Field(default={}, description="GPU -> clock that it is locked to, MHz (nvidia-smi -lgc)")
    celsius: dict[int, int] = Field(default={}, description="GPU -> temperature that it has, degrees Celsius")
    fabric_manager: bool = Field(default=True, description="whether the Fabric Manager of a machine's NVSwitches runs")


HEALTHY = NodeFaults()


def read(text: str | None) -> NodeFaults:
    """Return the faults of an annotation; of one that cannot be read none, and the log says why."""
    if text is None:
        return HEALTHY
    try:
        return NodeFaults.model_validate_json(text)
    except ValidationError as error:
        log.warning("faults %s cannot be read: %s", text, error)
        return HEALTHY
