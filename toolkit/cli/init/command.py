"""`./hpc init`: the settings of a first stack, from a cluster or from an example; or a site's own repository."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from core import simulated
from core.wording import some
from core.yaml import places
from stacks.loading.settings import KEY, PROJECT
from stacks.releases import RELEASES
from toolkit.cli.init import examples, file_text, reading, settings_file, site_repository
from toolkit.cli.init.composition import compose
from toolkit.cli.init.decision import MARK, REVIEW, Decision
from toolkit.cli.init.facts import Cluster, Connection
from toolkit.cli.init.machines import Group, grouped
from toolkit.cli.init.operators import already
from toolkit.cli.shared import cluster_client
from toolkit.cli.shared.cluster_client import chosen_context
from toolkit.cli.shared.console import print_text, print_warning
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.preflight import update_checks

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?")

NameArgument = Annotated[
    str | None, typer.Argument(metavar="NAME", help="Name of the stack: Pulumi.NAME.yaml is written.")
]
KubeconfigOption = Annotated[
    Path | None, typer.Option("--kubeconfig", help="Kubeconfig of the cluster, which is only read.")
]
ContextOption = Annotated[
    str | None, typer.Option("--context", help="Context in the kubeconfig. Default: the only one that it has.")
]
TemplateOption = Annotated[
    str | None,
    typer.Option(
        "--template",
        help="Example in stacks/examples: it gives the settings that a cluster does not report. "
        "Default: the nearest one. Without --kubeconfig it is copied. "
        f"One of {', '.join(examples.names(ROOT))}.",
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
SiteOption = Annotated[
    Path | None,
    typer.Option("--site", help="Make a repository of your own in this folder, for stacks, machines and locks."),
]
ProductOption = Annotated[
    str | None,
    typer.Option(
        "--product",
        help="With --site: URL or path of the product, e.g. of a mirror. Default: where this checkout is from.",
    ),
]
VersionOption = Annotated[
    str | None,
    typer.Option("--version", help="With --site: tag or commit of the product. Default: that of this checkout."),
]
ServerOption = Annotated[
    str,
    typer.Option(
        "--github-server",
        envvar="HPC_GITHUB_SERVER",
        help="With --site: the GitHub whose workflows are written, e.g. an Enterprise Server.",
    ),
]


def command(
    name: NameArgument = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
    template: TemplateOption = None,
    *,
    site: SiteOption = None,
    product: ProductOption = None,
    version: VersionOption = None,
    github_server: ServerOption = site_repository.GITHUB,
    force: ForceOption = False,
) -> None:
    """Write the settings of a first stack.

    Queries a cluster (--kubeconfig), or copies an example (--template). What you must decide is marked in the file with
    DECIDE, and listed. Nothing is changed on the cluster.

    With --site it makes a repository of your own instead, which has this product as a submodule.

    Exit status 0 even if that is still undecided.
    """
    if site is not None and (name, kubeconfig, context, template) == (None, None, None, None):
        written = site_repository.create(site.expanduser(), product, version, github_server, force=force)
        _report_site(site, written)
        return
    name = _named(name, (site, product, version))
    if kubeconfig is None:
        if template is None or context is not None:
            raise Problem(
                "there is no cluster to ask",
                "Name its kubeconfig (--kubeconfig FILE), or an example to copy (--template NAME): "
                f"{', '.join(examples.names(ROOT))}.",
            )
        copied, decisions = settings_file.copied(examples.read(template, ROOT), name)
        file_text.write({_file(name): copied}, force=force)
        before = [
            f"./hpc render --stack {name} -o DIR    # its manifests, without a cluster",
            f"./hpc sim up --stack {name}    # where you leave it simulated; a real cluster: docs/guide/operations.md",
        ]
        _report(name, [], decisions, before)
        return
    file = kubeconfig.expanduser()
    _from_cluster(name, file, chosen_context(file, context), template, force=force)


def _from_cluster(name: str, kubeconfig: Path, context: str, template: str | None, *, force: bool) -> None:
    asked = cluster_client.Cluster(kubeconfig, context, named_by="--kubeconfig or --context")
    cluster = reading.read(asked)
    _require_known(cluster)
    groups = grouped(cluster.nodes)
    _require_gpus(groups)
    release, reached = RELEASES[cluster.release], Connection(_written(kubeconfig, context, cluster), context)
    example = examples.read(template, ROOT) if template else examples.chosen(groups, release, ROOT)
    if not examples.whole(example):
        raise Problem(
            f"example {example.name} is only a part of an environment",
            "Name one with platform and tenants (--template).",
        )
    composition = compose(name, cluster, reached, groups, example)
    texts = {_file(name): settings_file.text_of(name, cluster, context, example.name, composition)}
    file_text.write(texts | {ROOT / file.path: file.content for file in composition.machine_files}, force=force)
    for line in cluster.unread:
        print_warning(f"not read: {line}")
    update_checks.show(cluster.unready)
    if release.support and datetime.now(UTC).date() > release.support.last_day:
        print_warning(
            f"OpenShift {release.name} is out of support: docs/reference/releases.md has the dates of later releases"
        )
    machine_files = [file.path for file in composition.machine_files]
    before = [f"./hpc state adopt --stack {name}    # what is on the cluster already"] * already(
        composition.settings, cluster
    )
    if not cluster.simulated:
        before.append(
            f"./hpc state init --stack {name}    # docs/guide/operations.md says what it needs: a passphrase, accounts"
        )
    _report(name, machine_files, composition.decisions, before)


def _report(name: str, machine_files: Sequence[str], decisions: Sequence[Decision], before: Sequence[str]) -> None:
    """Print what was written, what is left to decide, what the rules say, and what comes next."""
    print_text(f"written: {some([_file(name).name, *machine_files])}")
    node = places.composed(_file(name).read_text())

    def line(decision: Decision) -> int:
        return places.line(node, ("config", f"{PROJECT}:{KEY}", *decision.path)) + 1

    decisions = sorted(decisions, key=line)
    _list(
        f"to decide, marked with {MARK} in the file",
        [
            (f"{_file(name).name}:{line(decision)}: {decision.place}", decision)
            for decision in decisions
            if decision.mark == MARK
        ],
    )
    review = list(
        dict.fromkeys(f"{line(decision)}: {decision.place}" for decision in decisions if decision.mark == REVIEW)
    )
    print_text(f"\nto review, marked with {REVIEW}, by line: {'; '.join(review)}")
    faults = [*settings_file.faults(name, ROOT)]
    if faults:
        print_text("\nnot complete yet:")
        for fault in faults:
            print_text(fault)
    else:
        print_text("\nthe settings are valid, and no mandatory policy refuses what they declare")
    print_text("\nnext, when that is decided:")
    for command_line in (
        *before,
        f"./hpc diff --stack {name}    # what an update would do",
        f"./hpc up --stack {name}",
    ):
        print_text(f"  {command_line}")


def _list(title: str, decisions: Sequence[tuple[str, Decision]]) -> None:
    if decisions:
        print_text(f"\n{title}:")
    for place, decision in decisions:
        print_text(f"- {place}: {decision.text}")
        for line in decision.options:
            print_text(f"    {line}")


def _report_site(folder: Path, written: Sequence[str]) -> None:
    print_text(f"written, and staged for a first commit: {some([*written, 'product'])}")
    print_text("\nnext:")
    for line in (
        f"cd {folder}",
        "./hpc init NAME --kubeconfig FILE    # a first stack, from a cluster; or --template EXAMPLE",
        "git add . && git commit",
    ):
        print_text(f"  {line}")


def _named(name: str | None, of_sites: Sequence[object]) -> str:
    """Return the name of the stack; raise Problem where it is missing, or stands beside options of a repository."""
    if name is None or any(of_sites):
        raise Problem(
            "a stack needs NAME, and a repository --site FOLDER, --product and --version alone",
            "Write `./hpc init NAME ...` for a stack, or `./hpc init --site FOLDER` for a repository.",
        )
    if not _NAME.fullmatch(name):
        raise Problem(
            f"{name!r} is not a name of a stack",
            "Use at most 40 lower-case letters, digits and inner dashes, e.g. site.",
        )
    if name in examples.names(ROOT):
        raise Problem(
            f"{name} is the name of an example, which the new file would hide", "Give the stack another name."
        )
    return name


def _require_known(cluster: Cluster) -> None:
    if cluster.release not in RELEASES:
        raise Problem(
            f"the cluster has OpenShift {cluster.version}, and release {cluster.release} is not known here",
            f"Known are {', '.join(RELEASES)}; another one is a file in stacks/releases (docs/reference/releases.md).",
        )


def _require_gpus(groups: Sequence[Group]) -> None:
    if any(group.may_have_gpus for group in groups):
        return
    labelled = all(group.traits.has_gpus is False for group in groups)
    what = "labels of node feature discovery name no GPU of NVIDIA" if labelled else "no label names a GPU"
    raise Problem(
        f"none of the {sum(len(group.nodes) for group in groups)} nodes shows GPUs: {what}, and none has the size of a "
        "known machine",
        "Install Node Feature Discovery from OperatorHub, with PCI classes 03 and 02, and run it again when nodes have "
        "its labels; or copy an example (--template) and name the nodes yourself.",
    )


def _file(name: str) -> Path:
    return ROOT / f"Pulumi.{name}.yaml"


def _written(kubeconfig: Path, context: str, cluster: Cluster) -> str:
    """Return the path as the settings have it: from the project's folder, or from the user's home."""
    folder = simulated.root() / context.removeprefix(simulated.context_name(""))
    if cluster.simulated and (folder / "kubeconfig").is_file():
        # As in the examples: the folder that has them all may be another one (HPC_SIM_HOME).
        return f".sim/{folder.name}/kubeconfig"
    whole = kubeconfig.absolute()
    if whole.is_relative_to(ROOT):
        return str(whole.relative_to(ROOT))
    return f"~/{whole.relative_to(Path.home())}" if whole.is_relative_to(Path.home()) else str(whole)
