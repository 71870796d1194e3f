"""The Redpaper's tables of all-reduce as jobs that request the same."""

from pydantic import Field

from core.apis.nccl import Transport
from core.hardware import measured
from core.hardware.measured import REDPAPER_MACHINE, AllReduceTable
from toolkit.evidence.verdict import Fabric, Shape


class AllReduceRun(AllReduceTable):
    """A table with what its job requested."""

    profile: str
    fabric: Fabric
    shape: Shape
    transport: Transport | None = Field(description="requested between nodes; None: one node")


def _run(table: AllReduceTable) -> AllReduceRun:
    return AllReduceRun(
        **{name: getattr(table, name) for name in AllReduceTable.model_fields},
        profile=REDPAPER_MACHINE,
        fabric="infiniband",
        shape=Shape(pods=table.pods, gpus=table.gpus),
        transport=Transport.GPUDIRECT if table.nodes > 1 else None,
    )


ALL_REDUCE: tuple[AllReduceRun, ...] = tuple(_run(row) for row in measured.ALL_REDUCE)
"""By nodes; both runs over two nodes request GPUDirect to the GPU's own HCA."""


def all_reduce(profile: str | None, fabric: Fabric | None, shape: Shape | None) -> AllReduceRun | None:
    """Return the run of exactly these; a fabric of None is any. None: the documents have no such run."""
    return next(
        (run for run in ALL_REDUCE if run.profile == profile and fabric in (None, run.fabric) and run.shape == shape),
        None,
    )
