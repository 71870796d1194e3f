"""Training rates and times of the documents."""

from pydantic import Field

from hardware.model import Model


class Trained(Model):
    """A job, and its figure."""

    source: str = Field(description="inventory id")
    pods: int
    gpus: int = Field(description="of a pod")
    nodes: int
    figure: float = Field(description="images/s of all ranks, or seconds to the end")


RESNET50: tuple[Trained, ...] = (
    Trained(source="R-4.5-4", pods=1, gpus=8, nodes=1, figure=7096),
    Trained(source="R-4.5-4", pods=2, gpus=8, nodes=2, figure=13_745),
    Trained(source="R-4.5-8", pods=8, gpus=1, nodes=1, figure=5918),
    Trained(source="R-4.5-8", pods=16, gpus=1, nodes=2, figure=11_632),
)
"""Images/s of synthetic images, batch 64 a GPU, fp16; medians of five, on the Redpaper's machine.

Those of 1, 2 and 4 GPUs are in figures only, which the text does not have (E-32)."""
A2D2: tuple[Trained, ...] = (
    Trained(source="R-5.2-6", pods=8, gpus=1, nodes=1, figure=1328),
    Trained(source="R-5.2-6", pods=16, gpus=1, nodes=2, figure=740),
)
"""Seconds in pods of one GPU on the same nodes; medians of five (R-5.2-1, R-5.2-3)."""
RESNET101_TCP = (147.6, 147.8, 159.1)
"""Images/s of one rank of two, each on a machine like the Redpaper's, over TCP, fp32, at steps 1, 1 and 10 (B-6.3)."""
