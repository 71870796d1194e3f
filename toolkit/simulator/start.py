"""Starting a cluster: what runs as wanted is kept, the rest is started in the order of its dependence."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from core.files import write_atomically
from core.progress import Progress, Step
from toolkit.engine import tools
from toolkit.engine.errors import SimulatorError
from toolkit.engine.tools.modules import KUBERNETES_COMMANDS, kubernetes_tool
from toolkit.engine.tools.table import DRA_TOOLS, GPU_OPERATOR_TOOLS, JOB_CONTROLLERS, MPI_OPERATORS, OLM_TOOLS
from toolkit.simulator import state as states
from toolkit.simulator.access import pki
from toolkit.simulator.access.pki import USER, write_kubeconfigs
from toolkit.simulator.admission import manifests as admission
from toolkit.simulator.api import Api, wait_until
from toolkit.simulator.bootstrap.apply import bootstrap, fingerprint
from toolkit.simulator.home import Layout
from toolkit.simulator.names import LOST
from toolkit.simulator.pods import condition
from toolkit.simulator.processes import configurations, ports, procfs
from toolkit.simulator.processes.command_lines import Plan
from toolkit.simulator.processes.supervisor import Command, Processes
from toolkit.simulator.state import CATALOGUES, CONTROLLERS, LISTENERS, METRICS, ClusterSpec, PortNumbers, State
from toolkit.simulator.status import end_failed_start

BARE_TOOLS = ("etcd", "kube-apiserver", "kube-controller-manager", "openshift-crds", "kwok-crds")
NODE_TOOLS = ("kube-scheduler", "kwok")
NFD_TOOLS = ("nfd-master", "nfd-workers", "nfd-crds")
_REAL = ("gpu_operator", "compute_domains")
"""Fields of a cluster that say which real controllers are there, beside those of jobs."""
READY_SECONDS = 240.0
"""Guards against hanging: with other work on two cores 140 nodes took more than 60 s."""
READY_LINE = " simulating\n"  # what the actors log once they watch everything


def start(spec: ClusterSpec, layout: Layout, progress: Progress) -> tuple[State, tuple[str, ...]]:
    """Bring the cluster of `layout` to what `spec` says; return its state and what had to be started."""
    _check(spec)
    earlier = states.load(layout)
    if earlier and earlier.spec.name != spec.name:
        raise SimulatorError(
            f"{layout.home} is the home of the cluster {earlier.spec.name!r}, not of {spec.name!r}: use another folder."
        )
    spec = with_controllers_of(earlier, spec)
    paths = {tools.command(name): path for name, path in tools.ensure(needed_tools(spec), progress).items()}
    processes = Processes(layout.home)
    with progress.step(f"starting the simulated cluster {spec.name}") as step:
        return _Start(spec=spec, layout=layout, processes=processes, tool_paths=paths, earlier=earlier, step=step).run()


def needed_tools(spec: ClusterSpec) -> tuple[str, ...]:
    """Return the names of the tools that a cluster of `spec` needs."""
    parts = (*BARE_TOOLS, *(NODE_TOOLS if spec.schedules else ()))
    return (
        *(kubernetes_tool(name, spec.kubernetes) if name in KUBERNETES_COMMANDS else name for name in parts),
        *((MPI_OPERATORS[spec.mpi], *OLM_TOOLS, *NFD_TOOLS) if spec.actors else ()),
        *(tool for name in spec.job_controllers if spec.actors for tool in JOB_CONTROLLERS[name]),
        *(GPU_OPERATOR_TOOLS if spec.gpu_operator and spec.actors else ()),
        *(DRA_TOOLS if spec.compute_domains and spec.actors else ()),
        *(("kubectl",) if spec.suite and spec.actors else ()),
    )


def with_controllers_of(earlier: State | None, spec: ClusterSpec) -> ClusterSpec:
    """Return `spec` with the controllers of jobs and GPUs that the cluster has had.

    Settings that leave one out remove it by an update, during which its webhooks and finalizers still work.
    """
    had = earlier.spec.job_controllers if earlier else ()
    return spec.model_copy(
        update={
            "job_controllers": tuple(dict.fromkeys((*spec.job_controllers, *had))),
            **{name: getattr(spec, name) or bool(earlier and getattr(earlier.spec, name)) for name in _REAL},
        }
    )


def _check(spec: ClusterSpec) -> None:
    names = [node.name for node in spec.nodes]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SimulatorError(f"nodes {', '.join(twice)} appear twice: give every node a name of its own.")
    for node in spec.nodes:
        try:
            node.hardware  # noqa: B018 - its error is wanted
        except ValueError as error:
            raise SimulatorError(f"node {node.name}: {error}") from error


def choose_ports(earlier: PortNumbers | None, busy: frozenset[str]) -> PortNumbers:
    """Return the ports to use: those of `earlier` as long as they are ours or free, new ones else.

    `busy` names the processes of this cluster that run, and so hold theirs. The API server's port is never
    changed, because clients and states name it: raises SimulatorError when another process took it.
    """
    if earlier is None:
        drawn: set[int] = set()
        for _ in PortNumbers.model_fields:
            drawn.add(ports.free(drawn))
        return PortNumbers(**dict(zip(PortNumbers.model_fields, drawn, strict=True)))
    if "kube-apiserver" not in busy and not ports.is_free(earlier.api):
        holder = procfs.listener(earlier.api) or "another process"
        raise SimulatorError(
            f"port {earlier.api} of this cluster's API server is taken by {holder}:"
            " stop that, or remove this cluster with `./hpc sim clean` and start it again on another port."
        )
    owner = {name: process for process, name in LISTENERS.items()} | {"etcd_peer": "etcd"}
    owner |= dict.fromkeys((*CONTROLLERS, *CATALOGUES.values(), METRICS), "actors")
    numbers = earlier.model_dump()
    for name, process in owner.items():
        if name == "api":
            continue
        if not numbers[name] or (process not in busy and not ports.is_free(numbers[name])):
            numbers[name] = ports.free(set(numbers.values()))
    return PortNumbers(**numbers)


class _Start:
    """One start, step by step; what it started is stopped again if it fails."""

    def __init__(
        self,
        *,
        spec: ClusterSpec,
        layout: Layout,
        processes: Processes,
        tool_paths: Mapping[str, Path],
        earlier: State | None,
        step: Step,
    ) -> None:
        self._spec = spec
        self._layout = layout
        self._processes = processes
        self._step = step
        self._started: list[str] = []
        self._kept: list[str] = []
        self._tools = tool_paths
        chosen = choose_ports(earlier.ports if earlier else None, frozenset(processes.running()))
        self._state = State(
            spec=spec, ports=chosen, tools=dict(tool_paths), bootstrap=earlier.bootstrap if earlier else None
        )
        self._pki = pki.create(layout.pki, spec.name)
        self._plan = Plan(layout, self._pki, chosen, spec, tool_paths)

    def run(self) -> tuple[State, tuple[str, ...]]:
        for folder in (self._layout.etcd, self._layout.pods):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        states.save(self._layout, self._state)
        secret = write_kubeconfigs(self._layout, self._pki, cluster=self._spec.name, server=self._state.server)
        write_atomically(self._layout.scheduler_config, configurations.scheduler(self._layout))
        write_atomically(self._layout.egress_config, configurations.egress())
        token = secret[USER]
        try:
            self._run(Api(self._state.ports.api, token, self._pki.ca))
        except BaseException as error:
            reported = end_failed_start(error, self._processes, self._kept, self._started)
            if reported is error:
                raise
            raise reported from error
        states.save(self._layout, self._state)
        return self._state, tuple(self._started)

    def _run(self, api: Api) -> None:
        self._stop_unwanted()
        # The webhook starts beside the API server: controllers that make pods come after both.
        servers = self._servers()
        self._ensure(self._plan.etcd(), self._plan.api_server(), *servers)
        try:
            self._wait(lambda: api.answers("/readyz"), "the API server's start", "kube-apiserver")
            for server in servers:
                self._wait(partial(_taken, server), f"the start of {server.name}", server.name)
            self._ensure(self._plan.controller_manager())
            self._bootstrap(api)
            if self._spec.schedules:  # kwok's rights come with the bootstrap; without them it waits a second
                self._ensure(self._plan.scheduler(), self._plan.kwok())
            self._wait(
                lambda: api.answers("/api/v1/namespaces/default/serviceaccounts/default"),
                "the controller-manager's start",
                "kube-controller-manager",
            )
            self._wait(lambda: self._nodes_ready(api), "the nodes' getting Ready", "kwok")
        finally:
            api.close()
        if self._spec.actors:
            self._ensure(self._plan.actors())
            self._wait(lambda: READY_LINE in self._processes.log("actors").read_text(), "the actors' start", "actors")
        self._processes.require_alive([*self._kept, *self._started])

    def _bootstrap(self, api: Api) -> None:
        webhook = admission.webhook(self._state.ports.admission, self._pki.ca.read_bytes())
        catalogues = self._state.catalogues
        current = fingerprint(self._spec, self._tools, self._state.ports.kubelet, webhook, catalogues)
        if self._state.bootstrap == current and "kube-apiserver" not in self._started:
            return
        bootstrap(
            self._spec,
            self._tools,
            api=api,
            kubelet_port=self._state.ports.kubelet,
            webhook=webhook,
            catalogues=catalogues,
            step=self._step,
        )
        self._state = self._state.model_copy(update={"bootstrap": current})

    def _ensure(self, *commands: Command) -> None:
        """Leave those of `commands` that run with the same command line; start the others."""
        running = self._processes.running()
        for command in commands:
            record = running.get(command.name)
            if record is not None and record.command == command.fingerprint():
                self._kept.append(command.name)
                continue
            self._step.update(what=command.name)
            self._processes.stop([command.name])
            self._processes.start(command)
            self._started.append(command.name)

    def _stop_unwanted(self) -> None:
        needed = {"etcd", "kube-apiserver", "kube-controller-manager"}
        needed |= {"kube-scheduler", "kwok"} if self._spec.schedules else set()
        needed |= {"actors"} if self._spec.actors else set()
        needed |= {server.name for server in self._servers()}
        unwanted = set(self._processes.records()) - needed
        if unwanted:
            self._processes.stop(unwanted)

    def _wait(self, done: Callable[[], bool], what: str, process: str) -> None:
        """Wait for `done`, the work of `process`; a process that exits meanwhile is named with its last log lines."""
        self._step.update(what=what)

        def check() -> None:
            self._processes.require_alive([*self._kept, *self._started])

        try:
            wait_until(done, what=what, seconds=READY_SECONDS, check=check)
        except TimeoutError as error:
            log = self._processes.log(process)
            raise SimulatorError(f"{error}; the last lines of {log}:\n{self._processes.tail(process)}") from error

    def _servers(self) -> tuple[Command, ...]:
        """Return the servers beside the API server that the cluster has."""
        return (
            *([self._plan.scc_admission()] if self._spec.actors else ()),
            *([self._plan.object_store()] if self._spec.object_store else ()),
            *([self._plan.discover()] if self._spec.discover else ()),
            *([self._plan.scale_gui(self._spec.scale_gui)] if self._spec.scale_gui else ()),
        )

    def _nodes_ready(self, api: Api) -> bool:
        nodes = api.get("/api/v1/nodes")["items"]
        off = {item["metadata"]["name"] for item in nodes if LOST in (item["metadata"].get("annotations") or {})}
        ready = {item["metadata"]["name"] for item in nodes if condition(item, "Ready")}
        return {node.name for node in self._spec.nodes} - off <= ready


def _taken(server: Command) -> bool:
    """Return whether a server's port is taken; by it, as it would have exited if another held it."""
    return not any(map(ports.is_free, server.ports))
