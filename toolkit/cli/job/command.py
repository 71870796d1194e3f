"""`./hpc job`: the manifest by which a tenant's own user starts a program.

The platform's team runs the program of the stack, and users start jobs. A job that a user starts is rendered by the
stack's own components, from the same settings.
"""

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pulumi
import typer
import yaml

from core.apis.nccl import Transport
from policies import exceptions
from policies.check import configured_checker
from policies.rule import Severity
from stacks.layers import workloads
from stacks.loading.settings import PROJECT
from stacks.settings.platform import Settings
from toolkit.cli.check import text_report
from toolkit.cli.check.examination import Result, examine
from toolkit.cli.check.sources import Source, of_stack
from toolkit.cli.job.request import Request, requested
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, STANDARD_OUTPUT, StackOption, file_option, write_text
from toolkit.render.manifests import managed_by, manifests
from toolkit.render.recorder import record

ProgramArgument = Annotated[
    str, typer.Argument(metavar="PROGRAM", help="Program of the stack, or of docs/reference/programs.md.")
]
TenantOption = Annotated[str, typer.Option("--tenant", "-t", help="Namespace of the tenant whose user starts it.")]
OutputOption = Annotated[Path, file_option("File to write")]
GpusOption = Annotated[int | None, typer.Option("--gpus", "-g", min=1, help="GPUs of the job, all pods together.")]
NodesOption = Annotated[
    int | None,
    typer.Option(
        "--nodes",
        min=1,
        help="Pods that share the GPUs evenly, meant for a node each. Without --gpus: all GPUs of each node.",
    ),
]
LayoutOption = Annotated[
    str | None, typer.Option("--layout", metavar="PODSxGPUS", help="Pods, and GPUs of each, in place of --nodes.")
]
PoolOption = Annotated[
    str | None, typer.Option("--pool", help="Pool whose machines it is for. Default: the only one of the tenant.")
]
KindOption = Annotated[
    Literal["mpi", "torch", "job"] | None,
    typer.Option("--kind", help="Kind of workload. Default: the first of the program's kinds."),
]
NameOption = Annotated[
    str | None, typer.Option("--name", help="Prefix of the job's name; its layout follows. Default: the program.")
]
ImageOption = Annotated[
    str | None, typer.Option("--image", help="Image. Default: the program's, where it has one that fits.")
]
BuildOption = Annotated[
    str | None, typer.Option("--build", help="One of the tenant's `builds` in the settings, in place of an image.")
]
TransportOption = Annotated[
    Transport | None, typer.Option("--transport", help="How NCCL moves data. Default: the best that the fabric has.")
]


def command(
    program: ProgramArgument,
    tenant: TenantOption,
    output: OutputOption,
    stack: StackOption = DEFAULT_STACK,
    *,
    gpus: GpusOption = None,
    nodes: NodesOption = None,
    layout: LayoutOption = None,
    pool: PoolOption = None,
    kind: KindOption = None,
    name: NameOption = None,
    image: ImageOption = None,
    build: BuildOption = None,
    transport: TransportOption = None,
) -> None:
    """Write the manifest of a job that a user starts.

    Exit status 1, without a manifest, if a mandatory policy rejects it.
    """
    request = Request(program, tenant, gpus, nodes, layout, pool, kind, name, image, build, transport)
    settings, requested_job = requested(request, stacks.read(stack).settings)
    job = requested_job.id
    heading = f"# Program {program} as job {job} of stack {stack}; start it with: oc create -f FILE\n"
    manifest = heading + yaml.safe_dump_all(manifests_of(settings, stack), width=120, explicit_start=True)
    _require_allowed(_examined(manifest, job, stack))
    write_text(output, manifest)
    if output != STANDARD_OUTPUT:
        typer.echo(f"job {job} in {output}; start it with `oc create -f {output}`", err=True)


def _examined(manifest: str, job: str, stack: str) -> Result:
    declared = of_stack(stack)
    return examine(
        [Source(job, manifest.encode())],
        configured_checker(declared.configuration),
        context=declared.together,
        complete=True,
        exempt=exceptions.load(),
        ended=None,
        today=date.today(),
    )


def _require_allowed(result: Result) -> None:
    """Raise Problem where a mandatory policy refuses the job; print what others advise."""
    if any(located.finding.severity is Severity.MANDATORY for located in result.findings):
        raise Problem(
            f"the policies refuse the job, and nothing was written:\n{text_report.report(result)}",
            "Change the program or its options; with settings of the stack at fault, ask the platform's team.",
        )
    for located in result.findings:
        typer.echo(f"advice: {located.finding.rule}: {located.finding.message}; {located.finding.remedy}", err=True)


def manifests_of(settings: Settings, stack: str) -> list[dict[str, Any]]:
    """Return the manifests of the settings' workloads, the job itself last: it needs the others."""
    recorded = record(
        lambda: workloads.build(settings, (), (), lambda *_: "", locks={}, opts=pulumi.ResourceOptions()),
        stack=stack,
        project=PROJECT,
    )
    managed = [managed_by(None, manifest) for manifest in manifests(recorded)]
    return sorted(managed, key=lambda manifest: "job" in manifest["kind"].lower())
