"""The jobs that a performance suite starts, as its runner reads them: manifests with a place for round and repeat.

Each is what the builder of the stack's own job makes, of arguments whose name ends with `core.apis.suite.RUN_TOKEN`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import Field

from components.base.model import DnsLabel, Model, Seconds
from components.jobs import gpu_job, job_pods, mpi_job, rdma_perftest, torch_job, train_job
from components.jobs.gpu_job import GpuJobArgs
from components.jobs.job_args import SpanningJobArgs
from components.jobs.mpi_job import MpiJobArgs
from components.jobs.rdma_perftest import RdmaTestArgs, listener_name
from components.jobs.torch_job import TorchJobArgs
from components.jobs.train_job import TrainJobArgs
from core.apis import kinds, names, suite
from core.apis.kinds import Kind
from core.apis.names import MANAGED_BY, labels

Repeatable = MpiJobArgs | TorchJobArgs | TrainJobArgs | GpuJobArgs | RdmaTestArgs
"""Arguments of jobs that a suite can repeat."""


class SuiteRun(Model):
    """One job of a suite."""

    job: DnsLabel = Field(description="the job of the stack that it repeats")
    name: DnsLabel = Field(description="of its runs, with the place for round and repeat")
    seconds: Seconds = Field(description="how long to wait for a run")
    resource: str = Field(description="kind that ends, as `oc get` names it")
    labelled: tuple[str, ...] = Field(description="what its objects have as label `core.apis.suite.JOB`")
    objects: tuple[dict[str, Any], ...] = Field(
        exclude=True, description="manifests of a run, in the order of creation"
    )


class _Part(NamedTuple):
    """An object of a run; that which ends is the last one."""

    kind: Kind
    name: str
    spec: Mapping[str, Any]
    queue: str | None = None


def run_of(job: str, args: Repeatable, suite_name: str, versions: Mapping[str, str]) -> SuiteRun:
    """Return a job of a suite; `args` are those of the stack's job, called by `RUN_TOKEN` at the end.

    `versions` are of the parts that results depend on: they go with each run, since the stack may have others later.
    """
    parts = list(_parts(args))
    return SuiteRun(
        job=job,
        name=args.job_name,
        seconds=args.timeout,
        resource=resource(parts[-1].kind),
        labelled=tuple(_object_name(part.name) for part in parts),
        objects=tuple(_manifest(part, args, suite_name, versions) for part in parts),
    )


def kinds_of(runs: Sequence[SuiteRun]) -> tuple[Kind, ...]:
    """Return the kinds that a suite creates, each once."""
    used = {(manifest["apiVersion"], manifest["kind"]) for run in runs for manifest in run.objects}
    return tuple(kind for kind in kinds.KINDS if (kind.api_version, kind.kind) in used)


def resource(kind: Kind) -> str:
    """Return a kind as `oc get` takes it: plural, version and group, so that no other group's is meant."""
    return f"{kind.plural}.{kind.version}.{kind.group}" if kind.group else kind.plural


def files(runs: Sequence[SuiteRun]) -> dict[str, str]:
    """Return the plan, and a manifest for each job, by the keys of a ConfigMap."""
    named = {f"{number:02d}-{run.job}.json": run for number, run in enumerate(runs)}
    plan = "".join(
        f"{file} {run.resource} {run.name} {run.seconds} {','.join(run.labelled)}\n" for file, run in named.items()
    )
    return {suite.PLAN: plan, **{file: _text(run) for file, run in named.items()}}


def _text(run: SuiteRun) -> str:
    first, *others = run.objects
    whole = {"apiVersion": "v1", "kind": "List", "items": list(run.objects)} if others else first
    return json.dumps(whole, indent=1) + "\n"


def _object_name(name: str) -> str:
    """Return what the stack's own object is called."""
    return name.replace(f"-{suite.RUN_TOKEN}", "")


def _manifest(part: _Part, args: Repeatable, suite_name: str, versions: Mapping[str, str]) -> dict[str, Any]:
    own = {
        MANAGED_BY: suite.OWNER,
        suite.SUITE: suite_name,
        suite.JOB: _object_name(part.name),
        suite.ROUND: suite.ROUND_TOKEN,
        suite.RUN: suite.RUN_TOKEN,
    }
    queued = {names.QUEUE_NAME: part.queue} if part.queue else {}
    return {
        "apiVersion": part.kind.api_version,
        "kind": part.kind.kind,
        "metadata": {
            "name": part.name,
            "namespace": args.namespace,
            "labels": labels(args.job_name, "workload") | own | queued,
            "annotations": {suite.VERSIONS: json.dumps(versions)},
        },
        "spec": part.spec,
    }


def _parts(args: Repeatable) -> Iterator[_Part]:
    if isinstance(args, SpanningJobArgs) and args.compute_domain:
        yield _Part(kinds.COMPUTE_DOMAIN, args.job_name, job_pods.compute_domain_spec(args))
    yield from _PARTS[type(args)](args)


def _mpi(args: MpiJobArgs) -> Iterator[_Part]:
    yield _Part(args.kind, args.job_name, mpi_job.spec(args), args.v2beta1.queue)


def _torch(args: TorchJobArgs) -> Iterator[_Part]:
    yield _Part(kinds.SERVICE, args.service, torch_job.service_spec(args))
    yield _Part(kinds.JOB, args.job_name, torch_job.spec(args), args.queue)


def _train(args: TrainJobArgs) -> Iterator[_Part]:
    if train_job.has_own_runtime(args):
        yield _Part(
            kinds.TRAINING_RUNTIME,
            args.job_name,
            train_job.runtime_spec(args.shm, args.resilience, job_pods.claims(args)),
        )
    yield _Part(kinds.TRAIN_JOB, args.job_name, train_job.spec(args), args.queue)


def _gpu(args: GpuJobArgs) -> Iterator[_Part]:
    yield _Part(kinds.JOB, args.job_name, gpu_job.spec(args), args.queue)


def _rdma(args: RdmaTestArgs) -> Iterator[_Part]:
    listener = listener_name(args.job_name)
    listens = rdma_perftest.job_spec(args, args.server_node, rdma_perftest.listener_script(args))
    measures = rdma_perftest.job_spec(args, args.client_node, rdma_perftest.client_script(args))
    yield _Part(kinds.SERVICE, listener, rdma_perftest.service_spec(args))
    yield _Part(kinds.JOB, listener, listens)
    yield _Part(kinds.JOB, args.job_name, measures)


_PARTS: Mapping[type[Model], Callable[[Any], Iterator[_Part]]] = {
    MpiJobArgs: _mpi,
    TorchJobArgs: _torch,
    TrainJobArgs: _train,
    GpuJobArgs: _gpu,
    RdmaTestArgs: _rdma,
}
