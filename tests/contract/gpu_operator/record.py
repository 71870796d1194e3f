"""Records the contract from the real operator: `python -m tests.contract.gpu_operator.record`.

The operator is NVIDIA's own, on an API server with the controllers of Kubernetes and without kubelets: this module
binds the DaemonSets' pods to their nodes and calls them ready, once the operator has said what it waits for.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from core.apis import kinds
from core.apis.kinds import Kind
from tests.contract.gpu_operator import recorded
from tests.contract.gpu_operator.cases import Case, Cases, load
from toolkit.engine import tools
from toolkit.engine.tools.table import GPU_OPERATOR_TOOLS
from toolkit.engine.tools.versions import GPU_OPERATOR
from toolkit.simulator import cluster, pods
from toolkit.simulator.actors import gpu_controller
from toolkit.simulator.actors.api import SERVICE, Api, ApiError, Server, now
from toolkit.simulator.api import read_kubeconfig
from toolkit.simulator.manifests import manifest
from toolkit.simulator.state import ClusterSpec

Object = dict[str, Any]
NAMESPACE = "nvidia-gpu-operator"
POLICY = "gpu-cluster-policy"
RELEASE = "4.18"
SECONDS = 60.0
QUIET = 8.0
"""Seconds without a change after which a status is taken as the operator's last word: it looks again after five."""
LONG = 15.0
"""The same, while it calls ready what is not: until it has seen the first pods of what it has just made."""
CHECKS = (kinds.CONFIG_MAP, SERVICE, kinds.SERVICE_MONITOR, kinds.PROMETHEUS_RULE)
"""Kinds of its other objects, in its namespace, of which the names are recorded."""
STANDING = frozenset({"kube-root-ca.crt"})
"""What every namespace has."""


class Recorder:
    """One API server, and an operator of its own for every case, as the real one keeps what it once learnt."""

    def __init__(self, home: Path, made: cluster.Cluster) -> None:
        access = read_kubeconfig(made.kubeconfig)
        self._api = Api(Server(made.kubeconfig), lambda: access.token, "recorder")
        self._home, self._kubeconfig = home, made.kubeconfig
        paths = tools.ensure(GPU_OPERATOR_TOOLS)
        self._binary, self._files = (paths[name] for name in GPU_OPERATOR_TOOLS)

    def prepare(self) -> None:
        """Make the definitions of its kinds, which OLM brings, and its namespace."""
        for path in sorted(self._files.glob("nvidia.com_*.yaml")):
            self._api.apply(kinds.CUSTOM_RESOURCE_DEFINITION, yaml.safe_load(path.read_text()))
        self._until(lambda: self._served(kinds.CLUSTER_POLICY) and self._served(kinds.NVIDIA_DRIVER))
        self._api.apply(kinds.NAMESPACE, manifest(kinds.NAMESPACE, NAMESPACE))

    def record(self, cases: Cases, case: Case) -> Object:
        """Return what the operator made of a case: before its pods are ready, and after."""
        self._clean()
        for name, labels in cases.nodes(case).items():
            self._api.create(kinds.NODE, manifest(kinds.NODE, name, labels=labels))
            # Otherwise it gets a taint, which the operands do not tolerate.
            ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now()}
            self._api.patch(kinds.NODE, name, {"status": {"conditions": [ready]}}, sub="status")
        body = manifest(kinds.CLUSTER_POLICY, POLICY, spec=cases.policy(case))
        try:
            self._api.create(kinds.CLUSTER_POLICY, body)
        except ApiError as error:
            return {"refused": error.message}
        with self._operator(case.name):
            waiting = self._settled()
            made = self._made()
            self._run_pods()
            ready = self._settled()
        nodes = {name: self._labels(name, given) for name, given in cases.nodes(case).items()}
        return {"waiting": waiting, "ready": ready, "nodes": nodes, **made}

    def _served(self, kind: Kind) -> bool:
        try:
            return self._api.list(kind) is not None
        except ApiError:
            return False

    def _clean(self) -> None:
        """Remove the policy with all that it owns, and the nodes."""
        self._api.delete(kinds.CLUSTER_POLICY, POLICY)
        for node in self._api.list(kinds.NODE)["items"]:
            self._api.delete(kinds.NODE, node["metadata"]["name"])
        self._until(self._is_clean, self._kill_all)

    def _is_clean(self) -> bool:
        lists = (self._api.list(kind, NAMESPACE)["items"] for kind in (kinds.DAEMON_SET, kinds.POD, *CHECKS))
        return not any(each["metadata"]["name"] not in STANDING for found in lists for each in found)

    def _kill_all(self) -> None:
        # No kubelet is there to say that a pod has ended.
        for pod in self._api.list(kinds.POD, NAMESPACE)["items"]:
            self._api.delete(kinds.POD, pod["metadata"]["name"], NAMESPACE, at_once=True)

    @contextmanager
    def _operator(self, case: str) -> Iterator[None]:
        folder = self._home / "operators" / case
        gpu_controller.lay_out(folder, self._files, RELEASE)
        environment = {"PATH": os.environ["PATH"], **gpu_controller.variables(self._files, NAMESPACE)}
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                [self._binary, *gpu_controller.arguments(self._kubeconfig)],
                cwd=folder,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            try:
                yield
            finally:
                process.terminate()
                process.wait()

    def _settled(self) -> Object:
        """Return state and conditions once they and the DaemonSets, all seen by their controller, stay the same."""
        last: tuple[Object, Mapping[str, Object]] | None = None
        since, deadline = time.monotonic(), time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            found = self._status(), self._daemon_sets()
            if found != last or not self._seen(found[1].values()):
                last, since = found, time.monotonic()
            elif found[0] and time.monotonic() - since > (LONG if _early(*found) else QUIET):
                return found[0]
            time.sleep(0.1)
        raise TimeoutError(f"the ClusterPolicy had no lasting status after {SECONDS:.0f} s: {last and last[0]}")

    def _seen(self, daemon_sets: Iterable[Object]) -> bool:
        """Return whether the controller of DaemonSets has seen them, and the labels of all nodes."""
        labels = [pods.labels(node).items() for node in self._api.list(kinds.NODE)["items"]]
        return all(
            (each.get("status") or {}).get("desiredNumberScheduled")
            == sum(each["spec"]["template"]["spec"]["nodeSelector"].items() <= have for have in labels)
            for each in daemon_sets
        )

    def _status(self) -> Object:
        status = self._api.get(kinds.CLUSTER_POLICY, POLICY).get("status") or {}
        conditions = {
            condition["type"]: [condition["status"], condition["reason"], condition["message"]]
            for condition in status.get("conditions") or []
        }
        return {"state": status.get("state"), "conditions": conditions} if conditions else {}

    def _daemon_sets(self) -> Mapping[str, Object]:
        return {each["metadata"]["name"]: each for each in self._api.list(kinds.DAEMON_SET, NAMESPACE)["items"]}

    def _made(self) -> Object:
        others = {
            kind.kind: names
            for kind in CHECKS
            if (
                names := sorted(
                    each["metadata"]["name"]
                    for each in self._api.list(kind, NAMESPACE)["items"]
                    if each["metadata"]["name"] not in STANDING
                )
            )
        }
        shapes = {name: recorded.shape(each) for name, each in self._daemon_sets().items()}
        return {"daemon_sets": shapes, "others": others}

    def _run_pods(self) -> None:
        """Bind every pod of the DaemonSets, and call it ready."""
        for pod in self._pods_of_daemon_sets():
            meta = pod["metadata"]
            terms = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            (node,) = terms["nodeSelectorTerms"][0]["matchFields"][0]["values"]
            binding = {"metadata": {"name": meta["name"]}, "target": {"kind": "Node", "name": node}}
            self._api.create(kinds.POD, binding, meta["namespace"], name=meta["name"], sub="binding")
            ready = {"type": "Ready", "status": "True"}
            status = {"phase": "Running", "conditions": [ready]}
            self._api.patch(kinds.POD, meta["name"], {"status": status}, meta["namespace"], sub="status")

    def _pods_of_daemon_sets(self) -> list[Object]:
        def wanted() -> int:
            sets = self._daemon_sets().values()
            return sum((each.get("status") or {}).get("desiredNumberScheduled", 0) for each in sets)

        self._until(lambda: len(self._api.list(kinds.POD, NAMESPACE)["items"]) >= wanted())
        return [pod for pod in self._api.list(kinds.POD, NAMESPACE)["items"] if not pods.node_name(pod)]

    def _labels(self, name: str, given: Mapping[str, str]) -> Object:
        """Return the labels that a node has beside those that it was given; None for one that it lost."""
        node = self._api.get(kinds.NODE, name)
        have = pods.labels(node)
        changed: Object = {key: value for key, value in have.items() if given.get(key) != value}
        changed |= {key: None for key in given if key not in have}
        notes = {key: value for key, value in pods.annotations(node).items() if key.startswith("nvidia.com/")}
        return {"labels": changed, **({"annotations": notes} if notes else {})}

    def _until(self, done: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None) -> None:
        deadline = time.monotonic() + SECONDS
        while not done():
            if time.monotonic() > deadline:
                raise TimeoutError(f"nothing came of it in {SECONDS:.0f} s")
            meanwhile()
            time.sleep(0.1)


def _early(status: Object, daemon_sets: Mapping[str, Object]) -> bool:
    """Return whether a policy is called ready while pods of its DaemonSets are not."""
    unavailable = any((each.get("status") or {}).get("numberUnavailable") for each in daemon_sets.values())
    return status.get("state") == "ready" and unavailable


def main() -> None:
    """Run all cases, or add those that are named to the record, and write what came of them."""
    cases, chosen = load(), sys.argv[1:]
    wanted = [case for case in cases.cases if not chosen or case.name in chosen]
    results: Object = dict(recorded.load()["cases"]) if chosen else {}
    with tempfile.TemporaryDirectory(prefix="hpc-gpu-operator-") as name:
        home = Path(name)
        spec = ClusterSpec(name="gpu-contract", actors=False, release="current", openshift=RELEASE)
        made = cluster.up(spec, home / "cluster")
        try:
            recorder = Recorder(home, made)
            recorder.prepare()
            for case in wanted:
                results[case.name] = recorder.record(cases, case)
                sys.stdout.write(f"{case.name}: {outcome(results[case.name])}\n")
                sys.stdout.flush()
                recorded.save({"operator": GPU_OPERATOR, "openshift": RELEASE, "cases": results})
        finally:
            cluster.clean(made.home)


def outcome(result: Object) -> str:
    """Return a line on what came of a case."""
    if "refused" in result:
        return f"refused: {result['refused']}"
    error = result["waiting"]["conditions"]["Error"]
    return f"{len(result['daemon_sets'])} DaemonSets; {error[1]} {error[2]}; then {result['ready']['state']}"


if __name__ == "__main__":
    main()
