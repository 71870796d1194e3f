"""What previews and updates take at one size, on a simulated cluster of that size, and what the engine's state costs.

The state is written whole after every step, so that bytes grow with the square of resources. It is measured with
resources that need no provider and take as much of the state as an object does with what the cluster made of it: what
remains is the engine and its file.
"""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from bench import projects
from bench.figures import Series
from bench.scaled import platform
from core.simulated import context_name
from tests.engine.kit import Stack
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


PROGRAM = '''"""Components that hold some kB each, as objects of a cluster do in a state."""

import json
from pathlib import Path

import pulumi

wanted = json.loads(Path(__file__).with_name("wanted.json").read_text())
for number in range(wanted["count"]):
    made = pulumi.ComponentResource("bench:index:Thing", f"thing{number}", {})
    made.register_outputs({"objects": wanted["objects"]})
'''
WAYS: Mapping[str, tuple[tuple[str, ...], Mapping[str, str]]] = {
    "default": ((), {}),
    "--parallel 1": (("--parallel", "1"), {}),
    "PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS": ((), {"PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS": "true"}),
    "PULUMI_DIY_BACKEND_GZIP": ((), {"PULUMI_DIY_BACKEND_GZIP": "true"}),
    "PULUMI_DIY_BACKEND_ZSTD": ((), {"PULUMI_DIY_BACKEND_ZSTD": "true"}),
    "PULUMI_SKIP_CHECKPOINTS": ((), {"PULUMI_SKIP_CHECKPOINTS": "true"}),
}
"""Options of the engine that are measured, by name: flags and variables."""


def growth(sizes: tuple[int, ...]) -> dict[str, Series]:
    """Return seconds, MiB written and MiB of state of an update by number of resources."""
    updates = {size: _update(size) for size in sizes}
    return {
        "up, s": {size: pair[0].seconds for size, pair in updates.items()},
        "written, MiB": {size: pair[0].written / MIB for size, pair in updates.items()},
        "state, MiB": {size: pair[1] / MIB for size, pair in updates.items()},
    }


def ways(size: int) -> list[tuple[str, float, float]]:
    """Return seconds and MiB written of an update of so many resources, in each of the ways."""
    return [
        (name, done.seconds, done.written / MIB)
        for name, (flags, variables) in WAYS.items()
        for done, _ in [_update(size, *flags, **variables)]
    ]


def divided(size: int, parts: tuple[int, ...]) -> list[tuple[int, float, float, float]]:
    """Return what so many resources cost in so many stacks, one after another: seconds and MiB of all, s of one."""
    rows = []
    for count in parts:
        runs = [_update(size // count)[0] for _ in range(count)]
        seconds = sum(run.seconds for run in runs)
        rows.append((count, seconds, sum(run.written for run in runs) / MIB, seconds / count))
    return rows


def _update(size: int, *flags: str, **variables: str) -> tuple[projects.Run, int]:
    with tempfile.TemporaryDirectory(prefix="hpc-bench-") as name:
        stack = Stack(Path(name) / "project", cast(Any, None)).start("objects.py")
        program = stack.folder / "program"
        (program / "__main__.py").write_text(PROGRAM)
        (program / "wanted.json").write_text(json.dumps({"count": size, "objects": _objects()}))
        done = projects.run(stack, "up", "--yes", "--skip-preview", *flags, **variables)
        states = (Path(name) / "backend" / ".pulumi" / "stacks").rglob(f"{stack.name}.json*")
        return done, max(file.stat().st_size for file in states)


def _objects() -> list[Any]:
    """Return the inputs of all that a tenant has: some kB."""
    recorded = projects.recorded(projects.read(platform(projects.ROOT, 4, 3)))
    return [
        registration.inputs
        for registration in recorded
        if registration.is_kubernetes and "team001" in registration.name
    ]
