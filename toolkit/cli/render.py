"""`./hpc render`: the manifests that would be applied, without an engine or a cluster."""

import re
from pathlib import Path
from typing import Annotated

import typer

from core.wording import plural
from stacks.layers.monitoring_files import files
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, StackOption, path_option
from toolkit.render import manifests
from toolkit.render.gitops import argocd, flux
from toolkit.render.gitops.waves import waves

DashboardsOption = Annotated[
    bool,
    typer.Option(
        "--dashboards",
        help="Write files for monitoring in place of manifests: dashboards for Grafana; alertmanager.yaml with "
        "gpu.monitoring.notify; prometheus-rules.yaml where the cluster's Prometheus accepts no rules of others "
        "(OpenShift 3.11). Elsewhere the rules are a PrometheusRule among the manifests.",
    ),
]

_ADDRESS = re.compile(
    r"(?:https?|ssh|git)://(?:[^\s/@:]+(?P<password>:[^\s/@]*)?@)?[\w.-]+(?::\d+)?/[^\s]+"
    r"|[\w.-]+@[\w.-]+:(?!//)[^\s]+",
    re.ASCII,
)
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
_SOURCE_REMEDIES = {
    True: "Write an address without a password, e.g. https://git.example.com/platform.git or "
    "git@git.example.com:platform.git.",
    False: "Write the name of the GitRepository in flux-system; its URL is in that object.",
}

OutputOption = Annotated[Path | None, path_option("Folder for the files")]
ArgoOption = Annotated[
    Path | None,
    typer.Option("--argocd", metavar="DIR", help="Write manifests with sync waves for Argo CD, and health checks."),
]
FluxOption = Annotated[
    Path | None,
    typer.Option("--flux", metavar="DIR", help="Write manifests for Flux, and a Kustomization for each wave."),
]
SourceOption = Annotated[
    str | None, typer.Option("--source", help="URL of the repository (Argo CD), or name of its GitRepository (Flux).")
]


def command(
    output: OutputOption = None,
    stack: StackOption = DEFAULT_STACK,
    argocd_folder: ArgoOption = None,
    flux_folder: FluxOption = None,
    source: SourceOption = None,
    *,
    dashboards: DashboardsOption = False,
) -> None:
    """Write the manifests of a stack, without its secrets."""
    folders = [folder for folder in (output, argocd_folder, flux_folder) if folder]
    if len(folders) != 1:
        raise Problem("one folder is needed", "Write -o DIR for plain manifests, --argocd DIR or --flux DIR.")
    (folder,) = folders
    if output is None and dashboards:
        raise Problem("dashboards are not part of the waves", "Write them beside these: --dashboards -o DIR.")
    if output is None:
        return _gitops(stack, folder, source, argo=argocd_folder is not None)
    if dashboards:
        monitoring_files = files(stacks.read(stack).settings)
        if not monitoring_files:
            raise Problem(
                f"stack {stack} has no dashboards and no receivers",
                "Name a stack whose gpu.monitoring has `dashboards` or `notify`, or one with gpu.exporter.",
            )
        names = ", ".join(file.name for file in manifests.write_files(monitoring_files, folder))
        print_text(f"{plural(len(monitoring_files), 'file')} for monitoring of stack {stack} in {folder}: {names}")
        return None
    written = manifests.write(manifests.registrations(stack), folder)
    print_text(f"{len(written)} manifests of stack {stack} in {folder}")
    return None


def _gitops(stack: str, folder: Path, source: str | None, *, argo: bool) -> None:
    path = _path_in_repository(folder)
    if source is not None and (wrong := _wrong_address(source) if argo else _wrong_name(source)):
        raise Problem(f"--source {source}: {wrong}", _SOURCE_REMEDIES[argo])
    ordered = waves(manifests.registrations(stack, first_preview=True))
    write = argocd.files if argo else flux.files
    manifests.write_files(write(ordered, stack, path, source), folder)
    count = sum(map(len, ordered.members))
    print_text(f"{count} manifests of stack {stack} in {len(ordered.members)} waves in {folder}; see its README.md")


def _path_in_repository(folder: Path) -> str:
    """Return the path that the tool reads: from the root of the folder's repository, else as it was named."""
    whole = folder.resolve()
    root = next((above for above in (whole, *whole.parents) if (above / ".git").exists()), None)
    if root is None and whole.is_relative_to(Path.cwd()):
        root = Path.cwd()
    if root is None or whole == root:
        what = "the root of a repository" if root else "in no git repository"
        raise Problem(
            f"{folder} is {what}, so that it has no path there for the tool to read",
            "Name a folder in a checkout of the repository that Argo CD or Flux reads, e.g. clusters/prod.",
        )
    return whole.relative_to(root).as_posix()


def _wrong_address(source: str) -> str:
    """Return why Argo CD cannot read a repository at this address; nothing where it can."""
    match = _ADDRESS.fullmatch(source)
    if match is None:
        return "is no address of a git repository"
    return "has a password, which everybody could read" if match["password"] else ""


def _wrong_name(source: str) -> str:
    return "" if _NAME.fullmatch(source) else "is no name of a GitRepository"
