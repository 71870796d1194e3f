"""What previews and updates take at one size, on a simulated cluster of that size."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench import projects
from bench.scaled import platform
from core.simulated import context_name
from toolkit.cli.shared.simulated import spec as simulated_spec
from toolkit.cli.shared.simulated.cluster import MIB, Peak
from toolkit.cli.shared.stack import Stack as HpcStack
from toolkit.simulator import cluster

NAME = "scale"


@contextmanager
def folder() -> Iterator[Path]:
    """Give a folder for clusters and projects, and leave nothing of it."""
    with tempfile.TemporaryDirectory(prefix="hpc-bench-") as name:
        before = os.environ.get("HPC_SIM_HOME")
        os.environ["HPC_SIM_HOME"] = str(Path(name) / "clusters")
        try:
            yield Path(name)
        finally:
            for home in Path(os.environ["HPC_SIM_HOME"]).glob("*/"):
                cluster.clean(home)
            del os.environ["HPC_SIM_HOME"]
            if before is not None:
                os.environ["HPC_SIM_HOME"] = before


def measured(nodes: int, tenants: int) -> dict[str, float]:
    """Start a cluster, and preview, update and preview again; return seconds, MiB and what the engine wrote."""
    with folder() as where:
        values = platform(projects.ROOT, nodes, tenants)
        values["cluster"] |= {"context": context_name(NAME)}
        settings = projects.read(values)
        running = cluster.up(simulated_spec.of(HpcStack("prod", settings, NAME)))
        stack = projects.project(where / "engine", values, running.home / "kubeconfig")
        with Peak(running.home) as peak:
            first = projects.run(stack, "preview")
            update = projects.run(stack, "up", "--yes", "--skip-preview")
            second = projects.run(stack, "preview", "--expect-no-changes")
        state = stack.state_file()
    resources: list[Any] = json.loads(state)["checkpoint"]["latest"]["resources"]
    return {
        "resources": len(resources),
        "preview": first.seconds,
        "up": update.seconds,
        "second preview": second.seconds,
        "engine": max(run.peak for run in (first, update, second)) / MIB,
        "cluster": peak.bytes / MIB,
        "state": len(state) / MIB,
        "written": update.written / MIB,
    }
