"""What a node's tools print, by a Job on it: options of the commands that need it, and the cluster that they mean."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from core.apis.kinds import NODE
from core.apis.names import GPU_RESOURCE
from core.apis.quantity import whole
from policies.manifests.values import entries
from policies.manifests.values import read as value
from stacks.resolved import jobs
from toolkit.cli.hardware.job_writer import printed
from toolkit.cli.hardware.node_job import Unseen, manifest, unseen
from toolkit.cli.shared import session
from toolkit.cli.shared.cluster_client import Cluster, chosen_context
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack

DEFAULT_SECONDS = 600  # images with CUDA are large


@dataclass(frozen=True)
class Options:
    """How the Job of a node is run; each field is an option of the commands that need it."""

    namespace: Annotated[
        str, typer.Option(help="Namespace of the Job; in a tenant's namespace, its quota and queues apply.")
    ] = "default"
    image: Annotated[
        str | None,
        typer.Option(
            help="Image with the tools, e.g. of util-linux, pciutils, infiniband-diags. Default: that of the stack's "
            "jobs."
        ),
    ] = None
    gpus: Annotated[
        int | None,
        typer.Option(
            min=0, help="GPUs to request: all of the node (default), or 0 while jobs use them; the Job then sees none."
        ),
    ] = None
    account: Annotated[str, typer.Option("--service-account", help="Service account of the pod.")] = ""
    host_network: Annotated[
        bool,
        typer.Option(
            "--host-network",
            help="Run in the host network, to see interface names. The account must be allowed to use an SCC for it, "
            "such as hostnetwork-v2; in namespace default no SCC is evaluated.",
        ),
    ] = False
    seconds: Annotated[int, typer.Option("--timeout", min=1, help="Seconds until the Job must have finished.")] = (
        DEFAULT_SECONDS
    )


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, in place of its parameter `options`, an option for each field of Options."""
    own = inspect.signature(command, eval_str=True)
    kept = [parameter for name, parameter in own.parameters.items() if name != "options"]
    names, hints = [field.name for field in fields(Options)], get_type_hints(Options, include_extras=True)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=getattr(Options, name), annotation=hints[name])
        for name in names
    ]

    @wraps(command)
    def run(**values: Any) -> None:
        options = Options(**{name: values.pop(name) for name in names})
        command(**values, options=options)

    signature = own.replace(parameters=[*kept, *added])
    run.__dict__["__signature__"] = signature
    run.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return run


@dataclass(frozen=True)
class NodeOutputs:
    """What a node shows."""

    printed: str
    labels: Mapping[str, str]
    unseen: tuple[Unseen, ...]


def cluster_of(stack: Stack | None, kubeconfig: Path | None, context: str | None) -> Cluster:
    """Return the cluster of a stack or of a kubeconfig; raise Problem unless it is exactly one of them."""
    if stack is not None and kubeconfig is None and context is None:
        return session.cluster(stack)
    if kubeconfig is None or stack is not None:
        raise Problem("which cluster is meant is not clear", "Give either --stack, or --kubeconfig with --context.")
    return Cluster(kubeconfig.absolute(), chosen_context(kubeconfig, context))


def job_of(node: Mapping[str, Any], options: Options, stack: Stack | None) -> dict[str, Any]:
    """Return the Job of a node of the API; raise Problem for GPUs that it does not have, or without an image."""
    name = node["metadata"]["name"]
    offered = whole(value(node, "status", "allocatable", GPU_RESOURCE)) or 0
    if options.gpus not in (None, 0, offered):
        raise Problem(
            f"--gpus {options.gpus}: node {name} offers {offered}, and fewer would look like a node with fewer",
            "Omit --gpus, or give 0.",
        )
    image = options.image or (_image(stack) if stack is not None else None)
    if image is None:
        raise Problem(
            "there is no image to run", "Name one with --image, e.g. that of a job, which has most of the tools."
        )
    return manifest(
        name,
        image=image,
        namespace=options.namespace,
        gpus=offered if options.gpus is None else options.gpus,
        seconds=options.seconds,
        account=options.account,
        host_network=options.host_network,
        taints=entries(node, "spec", "taints"),
    )


def node_of(cluster: Cluster, name: str) -> dict[str, Any]:
    """Return a node; raise Problem, with the names of all, where it is not there."""
    if (node := cluster.read(NODE, "", name)) is not None:
        return node
    names = ", ".join(node["metadata"]["name"] for node in cluster.list(NODE))
    raise Problem(f"the cluster of context {cluster.context!r} has no node {name}", f"Its nodes: {names}.")


def collect(cluster: Cluster, name: str, options: Options, stack: Stack | None) -> NodeOutputs:
    """Run the Job of a node, and return what it shows; raise Problem where it does not end in time."""
    node = node_of(cluster, name)
    log = printed(cluster, job_of(node, options, stack), options.seconds)
    return NodeOutputs(log, value(node, "metadata", "labels") or {}, tuple(unseen(log)))


def _image(stack: Stack) -> str | None:
    """Return the image of the stack's first job; of one that a tenant builds, and others may not pull, its base."""
    programs = (job for job in jobs.every(stack.settings) if isinstance(job, jobs.ProgramJob))
    images = (job.build.base if job.build else job.image for job in programs)
    return next((image for image in images if image), None)
