"""`./hpc render`: the manifests that would be applied, without an engine or a cluster."""

from typing import Annotated

import typer

from cli.shared import stack as stacks
from cli.shared.console import print_text
from cli.shared.errors import Problem
from cli.shared.options import DEFAULT_STACK, FolderOption, StackOption
from rendering import manifests
from stacks.monitoring_files import files

DashboardsOption = Annotated[
    bool,
    typer.Option(
        "--dashboards",
        help="Write files for monitoring in place of manifests: dashboards for Grafana; alertmanager.yaml with "
        "gpu.monitoring.notify; prometheus-rules.yaml where the cluster's Prometheus accepts no rules of others "
        "(OpenShift 3.11). Elsewhere the rules are a PrometheusRule among the manifests.",
    ),
]


def command(output: FolderOption, stack: StackOption = DEFAULT_STACK, *, dashboards: DashboardsOption = False) -> None:
    """Write the manifests of a stack, without its secrets."""
    if dashboards:
        found = files(stacks.read(stack).settings)
        if not found:
            raise Problem(
                f"stack {stack} has no dashboards and no receivers",
                "Name a stack whose gpu.monitoring has `dashboards` or `notify`, or one with gpu.exporter.",
            )
        names = ", ".join(file.name for file in manifests.write_files(found, output))
        print_text(f"{len(found)} files for monitoring of stack {stack} in {output}: {names}")
        return
    written = manifests.write(manifests.registrations(stack), output)
    print_text(f"{len(written)} manifests of stack {stack} in {output}")
