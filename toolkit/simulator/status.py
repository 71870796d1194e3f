"""The status of a simulated cluster: its processes, its nodes, what it uses of this machine; and how a start failed.

Of a start that failed what it started is stopped, and the first error stays, as a cause and in a log.
"""

import errno
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.apis.names import NODE_ROLE
from core.simulated import context_name
from toolkit.engine.errors import SimulatorError
from toolkit.simulator import state as states
from toolkit.simulator.access.pki import USER, Pki, tokens
from toolkit.simulator.api import Api
from toolkit.simulator.home import Layout
from toolkit.simulator.names import PROFILE
from toolkit.simulator.pods import annotations, condition, labels
from toolkit.simulator.processes import procfs
from toolkit.simulator.processes.supervisor import Processes
from toolkit.simulator.state import LISTENERS, State

ASK_SECONDS = 3.0
START_LOG = "start"
"""Name of the log, beside those of the processes."""
_SERVER = "kube-apiserver"


@dataclass(frozen=True)
class ProcessStatus:
    """One process with all that it started; memory in bytes."""

    name: str
    pid: int
    alive: bool
    rss_bytes: int
    peak_rss_bytes: int
    port: int | None
    log: str


@dataclass(frozen=True)
class NodeStatus:
    """One node; `allocatable` as the API server gives it, e.g. {"nvidia.com/gpu": "8"}."""

    name: str
    state: Literal["Ready", "NotReady"]
    schedulable: bool
    roles: tuple[str, ...]
    profile: str | None
    allocatable: dict[str, str]


@dataclass(frozen=True)
class ClusterStatus:
    """The whole; `partial` when some of its processes died, or its API server does not answer."""

    name: str
    home: str
    state: Literal["absent", "stopped", "partial", "running"]
    server: str | None
    kubeconfig: str
    context: str
    processes: tuple[ProcessStatus, ...]
    nodes: tuple[NodeStatus, ...]
    problem: str | None = None
    object_store: str | None = None
    discover: str | None = None
    scale_gui: str | None = None
    metrics: str | None = None

    @property
    def rss_bytes(self) -> int:
        """Resident memory of all its processes."""
        return sum(process.rss_bytes for process in self.processes)

    @property
    def peak_rss_bytes(self) -> int:
        """Sum of what each process had at its own peak: an upper bound of the cluster's."""
        return sum(process.peak_rss_bytes for process in self.processes)


def inspect(layout: Layout) -> ClusterStatus:
    """Inspect the cluster of `layout`, whatever its condition."""
    problem = None
    cluster: State | None = None
    try:
        cluster = states.load(layout)
    except SimulatorError as error:
        problem = str(error)
    processes = _processes(layout, cluster)
    alive = [process for process in processes if process.alive]
    nodes: tuple[NodeStatus, ...] = ()
    if cluster and alive:
        try:
            nodes = _nodes(layout, cluster)
        except (OSError, SimulatorError) as error:
            problem = f"the API server does not answer: {error}"
    return ClusterStatus(
        name=cluster.spec.name if cluster else layout.home.name,
        home=str(layout.home),
        state=_state(cluster, problem, len(alive), len(processes)),
        server=cluster.server if cluster else None,
        kubeconfig=str(layout.kubeconfig),
        context=context_name(cluster.spec.name if cluster else layout.home.name),
        processes=processes,
        nodes=nodes,
        problem=problem,
        object_store=cluster.object_store if cluster else None,
        discover=cluster.discover if cluster else None,
        scale_gui=cluster.scale_gui if cluster else None,
        metrics=cluster.metrics if cluster else None,
    )


def _state(
    cluster: State | None, problem: str | None, alive: int, recorded: int
) -> Literal["absent", "stopped", "partial", "running"]:
    if alive == 0:
        return "absent" if cluster is None and problem is None else "stopped"
    return "running" if alive == recorded and problem is None else "partial"


def _processes(layout: Layout, cluster: State | None) -> tuple[ProcessStatus, ...]:
    processes = Processes(layout.home)
    numbers = cluster.ports.model_dump() if cluster else {}
    statuses = []
    for name, record in processes.records().items():
        alive = processes.alive(record)
        amounts = [procfs.memory(pid) for pid in processes.members(record)] if alive else []
        statuses.append(
            ProcessStatus(
                name=name,
                pid=record.pid,
                alive=alive,
                rss_bytes=sum(now for now, _ in amounts),
                peak_rss_bytes=sum(peak for _, peak in amounts),
                port=numbers.get(LISTENERS.get(name, "")),
                log=str(processes.log(name)),
            )
        )
    return tuple(statuses)


def _nodes(layout: Layout, cluster: State) -> tuple[NodeStatus, ...]:
    pki = Pki(layout.pki)
    api = Api(cluster.ports.api, tokens(pki)[USER], pki.ca, timeout=ASK_SECONDS)
    try:
        return tuple(map(_node, api.get("/api/v1/nodes")["items"]))
    finally:
        api.close()


def _node(item: dict[str, Any]) -> NodeStatus:
    metadata, status = item["metadata"], item.get("status", {})
    return NodeStatus(
        name=metadata["name"],
        state="Ready" if condition(item, "Ready") else "NotReady",
        schedulable=not item["spec"].get("unschedulable", False),
        roles=tuple(sorted(label.removeprefix(NODE_ROLE) for label in labels(item) if label.startswith(NODE_ROLE))),
        profile=annotations(item).get(PROFILE),
        allocatable=dict(status.get("allocatable", {})),
    )


def end_failed_start(
    error: BaseException, processes: Processes, kept: Sequence[str], started: Sequence[str]
) -> BaseException:
    """Stop what was started; return the error to raise from the first one, or that one itself.

    A request that got no answer is reported as the death of the process that it waited for.
    """
    explained = _explain(error, processes, [*kept, *started])
    left = _stop(processes, started)
    if left is None:
        return explained
    message = f"What it had started could not be stopped: {left!r}{_log(left, processes)}; run `./hpc sim down`."
    if isinstance(explained, SimulatorError):
        return SimulatorError(f"{explained}\n{message}")
    explained.add_note(message)
    return explained


def _stop(processes: Processes, started: Sequence[str]) -> Exception | None:
    """Stop the processes; return the error with which that ended."""
    try:
        processes.stop(started)
    except Exception as left:
        return left
    return None


def _explain(error: BaseException, processes: Processes, names: Sequence[str]) -> BaseException:
    if not isinstance(error, OSError) or error.errno == errno.ENOSPC:
        return error
    where = _log(error, processes)
    try:
        processes.require_alive(names)
    except SimulatorError as death:
        return SimulatorError(f"{death}\nThe request that it did not answer ended with: {error}{where}.")
    except OSError:  # what died cannot be read
        return error
    lines = f"the last lines of {processes.log(_SERVER)}:\n{processes.tail(_SERVER)}"
    return SimulatorError(f"{error}{where}; {lines}")


def _log(error: BaseException, processes: Processes) -> str:
    """Add an error with its traceback to the log; return where that is, for a message."""
    log = processes.log(START_LOG)
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch(mode=0o600)
        with log.open("a") as file:
            file.writelines(traceback.format_exception(error))
    except OSError:  # the disk is full, or the home not ours: the error itself is in the message
        return ""
    return f" (its traceback is in {log})"
