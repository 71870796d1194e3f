"""Serves on loopback what exporters of the cluster would, and what a Prometheus on this machine needs to scrape them.

It is a part of the actors' process, whose caches it reads: values are computed when they are scraped.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Hashable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from core.apis import kinds
from core.apis.names import SIMULATED
from toolkit.simulator import names, pods
from toolkit.simulator.actors import gpu_exporter, gpu_use, job_inputs
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.informer import TROUBLE, Key
from toolkit.simulator.actors.prometheus import RULES, Prometheus
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.metrics import dcgm_exporter, exporters
from toolkit.simulator.metrics.dcgm_exporter import GpuState, watts
from toolkit.simulator.metrics.exporters import CONTENT_TYPE, exposition
from toolkit.simulator.performance.job import Machine
from toolkit.simulator.processes.ports import LOOPBACK
from toolkit.simulator.state import METRICS

log = logging.getLogger(__name__)

SENDING_SHARE = 0.5
"""Of a port's rate, that a job's pods use while they compute: assumed."""
INDEX = f"""{SIMULATED}: metrics of GPUs, ports and pods; no GPU is behind them
/prometheus.yml  configuration for a Prometheus on this machine
/{RULES}  rules of the cluster's PrometheusRules
/targets  exporters that the cluster's Prometheus would scrape, as HTTP service discovery
"""


class MetricsServer:
    """Answers scrapes."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._port = runtime.settings.ports[METRICS]
        self._prometheus = Prometheus(runtime, self._port)
        self._quotas = runtime.identity("kube-state-metrics")
        self._counters = Counters()
        self._counting = threading.Lock()
        self._pages: dict[str, tuple[str, Callable[[], str]]] = {
            "": ("text/plain", lambda: INDEX),
            "prometheus.yml": ("application/yaml", self._prometheus.configuration),
            RULES: ("application/yaml", self._prometheus.rules),
            "targets": ("application/json", lambda: json.dumps(self._prometheus.targets())),
            "kube-state-metrics/metrics": (CONTENT_TYPE, self._kube_state),
        }

    def start(self) -> None:
        """Start; the runtime's caches must be in."""
        self._runtime.nodes.on_change(self._node_changed)
        server = ThreadingHTTPServer((LOOPBACK, self._port), _handler(self))
        threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()

    def page(self, path: str) -> tuple[str, str] | None:
        """Return content type and text of a path, None for an unknown one."""
        if fixed := self._pages.get(path.strip("/")):
            kind, text = fixed
            return kind, text()
        match path.strip("/").split("/"):
            case ["nodes", name, "metrics"]:
                node = self._runtime.nodes.get(name)
                return (CONTENT_TYPE, self._ports(node)) if node else None
            case ["pods", namespace, name, "metrics"]:
                pod = self._runtime.pods.get(name, namespace)
                metrics = self._gpus(pod) if pod and gpu_exporter.is_exporter(pod) and pods.runs(pod) else None
                return None if metrics is None else (CONTENT_TYPE, metrics)
        return None

    def _node_changed(self, _key: Key, old: Object | None, node: Object | None) -> None:
        # Nodes change all the time by their heartbeats.
        if old is None or node is None or _down(old) == _down(node):
            return
        before, now = (job_inputs.machine(version, self._runtime) for version in (old, node))
        with self._counting:
            for hca in now.ports_down - before.ports_down:
                self._counters.add(("lost", now.name, hca))

    def _kube_state(self) -> str:
        quotas = self._quotas.list(kinds.RESOURCE_QUOTA)["items"]
        return exposition(exporters.pod_families(self._runtime.pods.items(), quotas))

    def _ports(self, node: Object) -> str:
        machine = job_inputs.machine(node, self._runtime)
        states = self._runtime.settings.release != "4.4"
        sending = gpu_use.sending(machine, self._runtime)
        now = time.monotonic()

        def carried(hca: str) -> float:
            port = machine.hca(hca)
            rate = port.rate_gbps * exporters.BYTES * SENDING_SHARE if port and hca in sending else 0.0
            return self._counters.advance(("bytes", machine.name, hca), rate, now)

        with self._counting:
            return exposition(
                exporters.port_families(
                    machine,
                    states=states,
                    lost=lambda hca: self._counters.total(("lost", machine.name, hca)),
                    carried=carried,
                )
            )

    def _gpus(self, pod: Object) -> str | None:
        node = self._runtime.nodes.get(pods.node_name(pod))
        machine = job_inputs.machine(node, self._runtime) if node else None
        if machine is None or machine.profile is None or not machine.has_driver:
            return ""
        try:
            fields = gpu_exporter.counters(self._runtime, pod)
        except dcgm_exporter.ListError as error:
            log.warning("%s: %s", pod["metadata"]["name"], error)
            return None
        return exposition(dcgm_exporter.families(pod, fields, self._held(machine, machine.profile.gpus)))

    def _held(self, machine: Machine, count: int) -> list[dcgm_exporter.HeldGpu]:
        holders = gpu_use.holders(machine, self._runtime)
        gpus, now = [], time.monotonic()
        with self._counting:
            for number in range(count):
                holder = holders.get(number)
                state = GpuState(machine, number, busy=holder is not None and gpu_use.busy(holder, self._runtime))
                joules = self._counters.advance(("joules", machine.name, number), watts(state), now)
                gpus.append(dcgm_exporter.HeldGpu(state, joules, holder))
        return gpus


def _down(node: Object) -> str | None:
    return pods.annotations(node).get(names.PORTS_DOWN)


def _handler(server: MetricsServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One request."""

        def do_GET(self) -> None:
            """Answer a scrape."""
            status, kind, text = HTTPStatus.NOT_FOUND, "text/plain", f"{SIMULATED}: no such exporter runs\n"
            try:
                if exposed := server.page(self.path.partition("?")[0]):
                    status, (kind, text) = HTTPStatus.OK, exposed
            except TROUBLE as error:
                status, text = HTTPStatus.SERVICE_UNAVAILABLE, f"{SIMULATED}: the API server does not answer: {error}\n"
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Write no line for each scrape."""

    return Handler


class Counters:
    """Totals by key; times are in seconds and of one clock. Its caller takes care that only one thread uses it."""

    def __init__(self) -> None:
        self._totals: dict[Hashable, float] = {}
        self._seen: dict[Hashable, float] = {}

    def advance(self, key: Hashable, rate: float, now: float) -> float:
        """Add what a rate per second gives since the last call; return the total."""
        self.add(key, rate * (now - self._seen.get(key, now)))
        self._seen[key] = now
        return self.total(key)

    def add(self, key: Hashable, amount: float = 1.0) -> None:
        """Add an amount."""
        self._totals[key] = self.total(key) + amount

    def total(self, key: Hashable) -> float:
        """Return a total, 0 for a key that was never counted."""
        return self._totals.get(key, 0.0)
