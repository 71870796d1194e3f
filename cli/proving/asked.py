"""What the settings ask of every job: the measure of its logs. Pure."""

from collections.abc import Iterator

from apis.nccl import Transport
from components.layout import Layout
from components.rdma_test import listener_name
from evidence.verdict import Asked, Shape
from stacks import layouts
from stacks.fabric_settings import InfiniBand
from stacks.platform import Settings
from stacks.workload_settings import MpiWorkload, RdmaTestWorkload, Workload

RDMA_TEST = "rdma-test"
"""Name of the bandwidth test among the programs."""


def asked(settings: Settings) -> tuple[Asked, ...]:
    """Return what is asked of the jobs of a stack, in the order in which they run."""
    return tuple(
        one for stage in settings.stages for workload in stage.workloads for one in _of_workload(workload, settings)
    )


def _of_workload(workload: Workload, settings: Settings) -> Iterator[Asked]:
    ports = tuple(hca.name for hca in settings.profile.hcas) if settings.uses_rdma else ()
    common = {
        "profile": settings.profile.name,
        "fabric": settings.fabric.kind,
        "sharp": isinstance(settings.fabric, InfiniBand) and settings.fabric.sharp,
    }
    job = f"{workload.tenant}/{layouts.job_name(workload, settings)}"
    if isinstance(workload, RdmaTestWorkload):
        program = {"program": RDMA_TEST, "transport": Transport.INFINIBAND, "devices": ports}
        yield Asked.model_validate({**common, **program, "job": job, **_on(workload.client_node, workload.server_node)})
        listens = f"{workload.tenant}/{listener_name(workload.name)}"
        yield Asked.model_validate(
            {**common, **program, "job": listens, **_on(workload.server_node, workload.client_node)}
        )
        return
    layout = layouts.layout(workload, settings)
    transport = _transport(workload, layout, settings)
    devices = ports if transport is not None and transport.uses_rdma else ()
    yield Asked.model_validate(
        {
            **common,
            "job": job,
            "program": workload.program.value,
            "shape": Shape(pods=layout.pods, gpus=layout.gpus),
            "transport": transport,
            "devices": devices,
        }
    )


def _on(node: str, other: str) -> dict[str, tuple[str, ...]]:
    return {"nodes": (node,), "peers": (other,)}


def _transport(workload: Workload, layout: Layout, settings: Settings) -> Transport | None:
    """Return the transport between the nodes of a job, None for one that is on one node."""
    if not isinstance(workload, MpiWorkload) or layout.pods == 1 or workload.node is not None:
        return None
    return workload.transport or settings.transport
