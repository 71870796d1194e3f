"""What the settings ask of every job: the measure of its logs. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from components.jobs.rdma_perftest import listener_name
from core.apis.data_sets import TOOL
from core.apis.nccl import Transport
from core.hardware import profiles
from core.hardware.profiles import PROFILES
from stacks.layers.workloads import object_names
from stacks.resolved import jobs, locked_data
from stacks.resolved.jobs import Job, ProgramJob
from stacks.resolved.locked_data import Locked
from stacks.settings.fabric import Ethernet, InfiniBand, Roce
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.workloads import (
    IndexedWorkload,
    JobWorkload,
    RdmaTestWorkload,
    SpanningWorkload,
    StageDataWorkload,
    Workload,
)
from toolkit.cli.check.program_file import require_tools
from toolkit.evidence.verdict import RDMA_TEST, Data, Request, Shape


def requests(settings: Settings, locks: Locked) -> tuple[Request, ...]:
    """Return what is requested of the jobs of a stack, in the order in which they run."""
    return tuple(request for job in jobs.every(settings) for request in _of_job(job, settings, locks))


def of_pool(pool: Pool) -> dict[str, Any]:
    """Return what is expected of everything that runs on the nodes of a pool."""
    return {
        "profile": pool.machine.name,
        "own_machine": None if pool.machine.name in PROFILES else profiles.to_json(pool.nodes[0].hardware),
        "fabric": pool.fabric.kind,
        "pod_mtu": pool.fabric.pod_mtu if isinstance(pool.fabric, Ethernet) else None,
    }


def _of_job(resolved: Job, settings: Settings, locks: Locked) -> Iterator[Request]:
    pool, workload, job = resolved.pool, resolved.workload, resolved.id
    ports = tuple(hca.name for hca in pool.hcas)
    common = {
        **of_pool(pool),
        "sharp": isinstance(pool.fabric, InfiniBand) and pool.fabric.sharp,
        "port_mtu": pool.fabric.ports.mtu if isinstance(pool.fabric, Roce) and pool.fabric.ports else None,
        "operator_driver": not pool.host_driver,
    }
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
        yield from _staging(common, resolved, workload, settings, locks)
        return
    assert isinstance(resolved, ProgramJob)  # noqa: S101 - all other workloads start a program
    workload, layout, started = resolved.workload, resolved.layout, resolved.program
    transport = _transport(resolved) if started.uses_nccl else None
    require_tools(started, f"program {workload.program}")
    alone = isinstance(workload, JobWorkload) and resolved.uses_rdma
    devices = ports if alone or (transport is not None and transport.uses_rdma) else ()
    asked = {
        **common,
        "job": job,
        "program": workload.program,
        "prints": (*started.prints, *((TOOL,) if workload.data_set else ())),
        "metrics": started.metrics,
        "goodput": started.goodput,
        # A MIG instance is not a GPU of the profile.
        "shape": None if workload.instance else Shape(pods=layout.pods, gpus=layout.gpus),
        # Those of others the cluster reports, for as long as it stores them.
        "nodes": (workload.node,) if workload.node is not None else (),
        "transport": transport,
        "devices": devices,
    }
    if resolved.in_compute_domain:
        one_rack = resolved.closeness is not None and resolved.closeness.required is not None
        # Within a rack NCCL takes NVLink before any network, so none is judged.
        asked |= {"nvlink_nodes": "all", "transport": None, "devices": ()} if one_rack else {"nvlink_nodes": "some"}
    if isinstance(workload, IndexedWorkload):
        yield from _indexed(asked, resolved, workload, settings, locks)
        return
    data = _data(workload, workload.data_set, workload.split, locks, "reads") if workload.data_set else None
    yield Request.model_validate({**asked, "data": data})


def _staging(
    common: Mapping[str, Any], resolved: Job, workload: StageDataWorkload, settings: Settings, locks: Locked
) -> Iterator[Request]:
    """Yield what is requested of the Jobs of a staging: of an Indexed Job all slices, else of each Job its own."""
    data = _data(workload, workload.data_set, None, locks, "stages")
    for number, name in enumerate(object_names(resolved, settings, locks)):
        own = {"slices": workload.slices, "slice": None if settings.version.indexed_jobs else number}
        named = {**common, "job": f"{workload.tenant}/{name}", "prints": (TOOL,)}
        yield Request.model_validate({**named, "data": data.model_copy(update=own)})


def _indexed(
    asked: Mapping[str, Any], resolved: Job, workload: IndexedWorkload, settings: Settings, locks: Locked
) -> Iterator[Request]:
    """Yield what is requested of the Jobs of the slices, and of the reducer."""
    data = _data(workload, workload.data_set, workload.split, locks, "slices")
    *mapped, reducer = object_names(resolved, settings, locks)
    whole = settings.version.indexed_jobs
    for number, name in enumerate(mapped):
        own = {"slices": workload.slices, "slice": None if whole else number}
        shape = Shape(pods=workload.slices if whole else 1, gpus=workload.gpus)
        named = {**asked, "job": f"{workload.tenant}/{name}", "shape": None if workload.instance else shape}
        yield Request.model_validate({**named, "data": data.model_copy(update=own)})
    proof = data.model_copy(update={"role": "reduces", "slices": workload.slices})
    alone = {"job": f"{workload.tenant}/{reducer}", "prints": (TOOL,), "metrics": (), "shape": None, "program": None}
    alone["goodput"] = None
    yield Request.model_validate({**asked, **alone, "data": proof})


def _data(
    workload: Workload, name: str, split: str | None, locks: Locked, role: Literal["stages", "reads", "slices"]
) -> Data:
    part = locked_data.chosen(workload.tenant, name, split, locks)
    return Data(name=name, digest=part.digest, files=part.files, bytes=part.bytes, role=role)


def _on(node: str, other: str) -> dict[str, tuple[str, ...]]:
    return {"nodes": (node,), "peers": (other,)}


def _transport(job: ProgramJob) -> Transport | None:
    """Return the transport between the nodes of a job, None for one that is on one node."""
    spans = isinstance(job.workload, SpanningWorkload) and job.layout.pods > 1 and job.workload.node is None
    return job.transport if spans else None
