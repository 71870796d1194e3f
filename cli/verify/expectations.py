"""What the settings ask of every job: the measure of its logs. Pure."""

from collections.abc import Iterator

from apis.nccl import Transport
from cli.programs.check import require_tools
from components.layout import Layout
from components.rdma_perftest import listener_name
from evidence.verdict import RDMA_TEST, Request, Shape
from hardware import profiles
from hardware.profiles import PROFILES
from stacks import layouts
from stacks.fabric_settings import Ethernet, InfiniBand
from stacks.platform import Settings
from stacks.workload_settings import RdmaTestWorkload, SpanningWorkload, Workload


def requests(settings: Settings) -> tuple[Request, ...]:
    """Return what is requested of the jobs of a stack, in the order in which they run."""
    return tuple(
        one for stage in settings.stages for workload in stage.workloads for one in _of_workload(workload, settings)
    )


def pod_mtu(settings: Settings) -> int | None:
    """Return the bytes that the pod network is to take, by the settings; None: they have none."""
    return settings.fabric.pod_mtu if isinstance(settings.fabric, Ethernet) else None


def own_machine(settings: Settings) -> str | None:
    """Return the machine of a stack that brings it along, as a request has it; None: one of hardware/machines."""
    name = settings.profile.name
    return None if name in PROFILES else profiles.to_json(settings.gpu_nodes[0].machine)


def _of_workload(workload: Workload, settings: Settings) -> Iterator[Request]:
    ports = tuple(hca.name for hca in settings.profile.hcas) if settings.uses_rdma else ()
    common = {
        "profile": settings.profile.name,
        "own_machine": own_machine(settings),
        "fabric": settings.fabric.kind,
        "sharp": isinstance(settings.fabric, InfiniBand) and settings.fabric.sharp,
        "pod_mtu": pod_mtu(settings),
    }
    job = f"{workload.tenant}/{layouts.job_name(workload, settings)}"
    if isinstance(workload, RdmaTestWorkload):
        program = {"program": RDMA_TEST, "transport": Transport.INFINIBAND, "devices": ports}
        yield Request.model_validate(
            {**common, **program, "job": job, **_on(workload.client_node, workload.server_node)}
        )
        listens = f"{workload.tenant}/{listener_name(workload.name)}"
        yield Request.model_validate(
            {**common, **program, "job": listens, **_on(workload.server_node, workload.client_node)}
        )
        return
    layout = layouts.layout(workload, settings)
    started = settings.program(workload.program)
    transport = _transport(workload, layout, settings) if started.uses_nccl else None
    require_tools(started, f"program {workload.program}")
    devices = ports if transport is not None and transport.uses_rdma else ()
    yield Request.model_validate(
        {
            **common,
            "job": job,
            "program": workload.program,
            "prints": started.prints,
            "metrics": started.metrics,
            "shape": Shape(pods=layout.pods, gpus=layout.gpus),
            # Those of others the cluster reports, for as long as it stores them.
            "nodes": (workload.node,) if workload.node is not None else (),
            "transport": transport,
            "devices": devices,
        }
    )


def _on(node: str, other: str) -> dict[str, tuple[str, ...]]:
    return {"nodes": (node,), "peers": (other,)}


def _transport(workload: Workload, layout: Layout, settings: Settings) -> Transport | None:
    """Return the transport between the nodes of a job, None for one that is on one node."""
    if not isinstance(workload, SpanningWorkload) or layout.pods == 1 or workload.node is not None:
        return None
    return settings.transport_of(workload.tenant, workload.transport)
