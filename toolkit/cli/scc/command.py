"""`./hpc scc`: which SecurityContextConstraints takes a pod, and why others do not."""

import json
import sys
from pathlib import Path
from typing import Annotated, BinaryIO, NoReturn

import typer

from policies.scc import Release as OfRelease
from policies.scc.batch import answers
from toolkit.cli.shared.errors import print_error
from toolkit.cli.shared.options import DEFAULT_STACK, JsonOption, OtherName, StackOption

ADMITTED, REFUSED, UNREADABLE = 0, 1, 2

Files = Annotated[
    list[str] | None,
    typer.Option("--file", "-f", help="Pods or workloads, and whatever --sccs takes: file, folder or -."),
]
MoreFiles = Annotated[list[str] | None, typer.Argument(metavar="[FILE]...", help="Further files, without -f.")]
Namespace = Annotated[str, typer.Option("--namespace", help="Namespace of the pods; default: their own.")]
Account = Annotated[str, typer.Option("--service-account", help="Account that the pods run as; default: their own.")]
Sccs = Annotated[
    list[str] | None,
    typer.Option("--sccs", help="SCCs, namespaces, RBAC: file or folder; one with `restricted` replaces a release's."),
]
Release = Annotated[
    OfRelease | None,
    typer.Option("--release", help="Release whose default SCCs are added; default: the stack's, else the current one."),
]
Asker = Annotated[str, typer.Option("--user", help="User who creates the pods; default: their service account.")]
Groups = Annotated[list[str] | None, typer.Option("--group", help="Group of the user; repeatable.")]
Usable = Annotated[list[str] | None, typer.Option("--usable", help="SCC that RBAC grants as well; repeatable.")]
Annotations = Annotated[list[str] | None, typer.Option("--annotation", help="KEY=VALUE of the namespace; repeatable.")]
Stack = Annotated[str, typer.Option("--stack", "-s", help="Stack whose SCCs, namespaces and RBAC are added.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print OpenShift's own message too.")]
Batch = Annotated[str, typer.Option("--batch", help="JSON lines {id, pod, namespace, user, usable, sccs}, or -.")]

app = typer.Typer(help="Predict which SCC admits a pod, and why.", no_args_is_help=True)


@app.callback()
def scc() -> None:
    """Predict what OpenShift's SCC admission does with a pod."""


@app.command()
def explain(
    files: MoreFiles = None,
    *,
    file: Files = None,
    namespace: Namespace = "",
    account: Account = "",
    sccs: Sccs = None,
    release: Release = None,
    user: Asker = "",
    group: Groups = None,
    usable: Usable = None,
    annotation: Annotations = None,
    stack: Stack = "",
    verbose: Verbose = False,
    plain: JsonOption = False,
    batch: Batch = "",
) -> None:
    """Predict which SCC admits a pod, and what it changes.

    For a refused pod: why, and which SCC would admit it. Values that OpenShift allocates to a namespace, and no file
    contains, are replaced by examples; the output reports this.

    Exit status 0: all admitted (or all lines answered), 1: a pod is refused, 2: something could not be read.
    """
    subjects = [*(file or ()), *(files or ())]
    if batch:
        if subjects or sccs or stack:
            _fail("--batch takes no other files: each line names its own pod, SCCs and namespace")
        raise typer.Exit(_batch(batch))
    if not subjects:
        _fail("name the pod's file, or the lines' with --batch")
    if group and not user:
        _fail("--group is one of --user, which is missing")
    # A batch needs neither YAML nor tables, and starts in half the time.
    from toolkit.cli.scc import cluster, explanation, presentation  # noqa: PLC0415

    try:
        annotations = cluster.annotations(annotation or ())
        options = explanation.PodOptions(namespace, account, user, tuple(group or ()), annotations)
        explanations = explanation.explain(
            subjects, sccs or (), options, stack=stack, release=release, usable=usable or ()
        )
    except explanation.UNREADABLE as error:
        _fail(str(error))
    presentation.show(explanations, plain=plain, verbose=verbose)
    raise typer.Exit(ADMITTED if all(result.verdict.admitted for result in explanations) else REFUSED)


@app.command()
def check(stack: StackOption = DEFAULT_STACK, name: OtherName = None) -> None:
    """Compare the cluster's SCC decisions with the predicted ones.

    The API server is asked whether each tenant's account may use the SCC of RDMA jobs, and whether its default account
    may. The annotation openshift.io/scc of the tenants' pods is compared with the SCC that `explain` predicts.

    Exit status 0: all agree, 1: something differs, 2: the tenants have no pods that were admitted.
    """
    from toolkit.cli.scc import check as comparison  # noqa: PLC0415 - as above

    raise typer.Exit(comparison.compare(stack, name))


def _batch(name: str) -> int:
    if name == "-":
        return _answer(sys.stdin.buffer)
    try:
        lines = Path(name).open("rb")  # noqa: SIM115 - a fault of writing is none of this file
    except OSError as error:
        _fail(f"{name} cannot be read: {error.strerror}")
    with lines:
        return _answer(lines)


def _answer(lines: BinaryIO) -> int:
    status, write = ADMITTED, sys.stdout.write
    for answer in answers(lines):
        status = UNREADABLE if "error" in answer else status
        write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()
    return status


def _fail(message: str) -> NoReturn:
    print_error(message)
    raise typer.Exit(UNREADABLE)
