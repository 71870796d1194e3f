"""What the settings ask of every job: the measure of its logs. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from apis.data_sets import TOOL
from apis.nccl import Transport
from cli.programs.check import require_tools
from components.layout import Layout
from components.rdma_perftest import listener_name
from evidence.verdict import RDMA_TEST, Data, Request, Shape
from hardware import profiles
from hardware.profiles import PROFILES
from stacks import job_arguments, layouts, locked_data
from stacks.fabric_settings import Ethernet, InfiniBand, Roce
from stacks.locked_data import Locked
from stacks.platform import Settings
from stacks.workload_settings import (
    IndexedWorkload,
    JobWorkload,
    RdmaTestWorkload,
    SpanningWorkload,
    StageDataWorkload,
    Workload,
)
from stacks.workloads import object_names


def requests(settings: Settings, locks: Locked) -> tuple[Request, ...]:
    """Return what is requested of the jobs of a stack, in the order in which they run."""
    return tuple(
        one
        for stage in settings.stages
        for workload in stage.workloads
        for one in _of_workload(workload, settings, locks)
    )


def pod_mtu(settings: Settings) -> int | None:
    """Return the bytes that the pod network is to take, by the settings; None: they have none."""
    return settings.fabric.pod_mtu if isinstance(settings.fabric, Ethernet) else None


def port_mtu(settings: Settings) -> int | None:
    """Return the bytes that the ports of RoCE are set to; None: the settings leave them as they are."""
    fabric = settings.fabric
    return fabric.ports.mtu if isinstance(fabric, Roce) and fabric.ports else None


def own_machine(settings: Settings) -> str | None:
    """Return the machine of a stack that brings it along, as a request has it; None: one of hardware/machines."""
    name = settings.profile.name
    return None if name in PROFILES else profiles.to_json(settings.gpu_nodes[0].machine)


def _of_workload(workload: Workload, settings: Settings, locks: Locked) -> Iterator[Request]:
    ports = tuple(hca.name for hca in settings.profile.hcas) if settings.uses_rdma else ()
    common = {
        "profile": settings.profile.name,
        "own_machine": own_machine(settings),
        "fabric": settings.fabric.kind,
        "sharp": isinstance(settings.fabric, InfiniBand) and settings.fabric.sharp,
        "pod_mtu": pod_mtu(settings),
        "port_mtu": port_mtu(settings),
        "operator_driver": not settings.host_driver,
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
    if isinstance(workload, StageDataWorkload):
        yield from _staging(common, workload, settings, locks)
        return
    layout = layouts.layout(workload, settings)
    started = settings.program(workload.program)
    transport = _transport(workload, layout, settings) if started.uses_nccl else None
    require_tools(started, f"program {workload.program}")
    alone = isinstance(workload, JobWorkload) and job_arguments.has_rdma(workload, settings)
    devices = ports if alone or (transport is not None and transport.uses_rdma) else ()
    asked = {
        **common,
        "job": job,
        "program": workload.program,
        "prints": (*started.prints, *((TOOL,) if workload.data_set else ())),
        "metrics": started.metrics,
        # A MIG instance is not a GPU of the profile.
        "shape": None if workload.instance else Shape(pods=layout.pods, gpus=layout.gpus),
        # Those of others the cluster reports, for as long as it stores them.
        "nodes": (workload.node,) if workload.node is not None else (),
        "transport": transport,
        "devices": devices,
    }
    if isinstance(workload, IndexedWorkload):
        yield from _indexed(asked, workload, settings, locks)
        return
    data = _data(workload, workload.data_set, workload.split, locks, "reads") if workload.data_set else None
    yield Request.model_validate({**asked, "data": data})


def _staging(
    common: Mapping[str, Any], workload: StageDataWorkload, settings: Settings, locks: Locked
) -> Iterator[Request]:
    """Yield what is requested of the Jobs of a staging: of an Indexed Job all slices, else of each Job its own."""
    data = _data(workload, workload.data_set, None, locks, "stages")
    jobs = object_names(workload, settings, locks)
    for number, name in enumerate(jobs):
        own = {"slices": workload.slices, "slice": None if settings.version.indexed_jobs else number}
        named = {**common, "job": f"{workload.tenant}/{name}", "prints": (TOOL,)}
        yield Request.model_validate({**named, "data": data.model_copy(update=own)})


def _indexed(
    asked: Mapping[str, Any], workload: IndexedWorkload, settings: Settings, locks: Locked
) -> Iterator[Request]:
    """Yield what is requested of the Jobs of the slices, and of the reducer."""
    data = _data(workload, workload.data_set, workload.split, locks, "slices")
    *mapped, reducer = object_names(workload, settings, locks)
    whole = settings.version.indexed_jobs
    for number, name in enumerate(mapped):
        own = {"slices": workload.slices, "slice": None if whole else number}
        shape = Shape(pods=workload.slices if whole else 1, gpus=workload.gpus)
        named = {**asked, "job": f"{workload.tenant}/{name}", "shape": None if workload.instance else shape}
        yield Request.model_validate({**named, "data": data.model_copy(update=own)})
    proof = data.model_copy(update={"role": "reduces", "slices": workload.slices})
    alone = {"job": f"{workload.tenant}/{reducer}", "prints": (TOOL,), "metrics": (), "shape": None, "program": None}
    yield Request.model_validate({**asked, **alone, "data": proof})


def _data(
    workload: Workload, name: str, split: str | None, locks: Locked, role: Literal["stages", "reads", "slices"]
) -> Data:
    part = locked_data.chosen(workload.tenant, name, split, locks)
    return Data(name=name, digest=part.digest, files=part.files, bytes=part.bytes, role=role)


def _on(node: str, other: str) -> dict[str, tuple[str, ...]]:
    return {"nodes": (node,), "peers": (other,)}


def _transport(workload: Workload, layout: Layout, settings: Settings) -> Transport | None:
    """Return the transport between the nodes of a job, None for one that is on one node."""
    if not isinstance(workload, SpanningWorkload) or layout.pods == 1 or workload.node is not None:
        return None
    return settings.transport_of(workload.tenant, workload.transport)
