"""A real API server for the contract: etcd, kube-apiserver, and of the controllers only those that remove things.

No controller sets a status here: the cases do, as controllers would, so that every wait ends when a case says so.
"""

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3

from core.apis.builtin import BUILTIN
from core.apis.kinds import KINDS
from core.simulated import context_name
from toolkit.engine import tools
from toolkit.engine.tools.versions import KUBERNETES
from toolkit.simulator.access import pki
from toolkit.simulator.access.pki import USER, write_kubeconfigs
from toolkit.simulator.home import Layout
from toolkit.simulator.processes.command_lines import Plan
from toolkit.simulator.processes.ports import free
from toolkit.simulator.processes.supervisor import Processes
from toolkit.simulator.state import ClusterSpec, PortNumbers

TOOLS = ("etcd", "kube-apiserver", "kube-controller-manager")
CLUSTER = "contract"
VERSION = KUBERNETES[ClusterSpec(name=CLUSTER).kubernetes]
_CONTROLLERS = (
    *("garbage-collector-controller", "namespace-controller", "serviceaccount-controller"),
    *("persistentvolume-protection-controller", "persistentvolumeclaim-protection-controller"),
)
_SECONDS = 300
_JSON = "application/json"
_GROUP = "contract.example.com"
"""Of the kinds that only the contract has."""


@dataclass(frozen=True)
class Answer:
    """Status and body of an answer."""

    status: int
    body: Any


class ApiServer:
    """The API server, as everyone but the provider talks to it."""

    def __init__(self, server: str, token: str, ca: Path, kubeconfig: Path) -> None:
        self.server, self.token, self.kubeconfig, self.context = server, token, kubeconfig, context_name(CLUSTER)
        self._pool = urllib3.PoolManager(num_pools=1, maxsize=32, ca_certs=str(ca))
        self._kinds: dict[tuple[str, str], tuple[str, bool]] = {}
        self._lock = threading.Lock()

    def request(
        self, method: str, path: str, body: Any = None, *, kind: str = _JSON, query: Mapping[str, str] | None = None
    ) -> Answer:
        """Send one request."""
        response = self._pool.request(
            method,
            f"{self.server}{path}" + (f"?{urlencode(query)}" if query else ""),
            body=None if body is None else json.dumps(body),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": kind, "Accept": _JSON},
            retries=False,
            timeout=30,
        )
        try:
            return Answer(response.status, json.loads(response.data))
        except ValueError:
            return Answer(response.status, response.data.decode(errors="replace"))

    def path(self, manifest: Mapping[str, Any], name: str | None = None) -> str:
        """Return the URL path of an object; of its collection for the name ''."""
        version, kind, metadata = manifest["apiVersion"], manifest["kind"], manifest.get("metadata", {})
        plural, namespaced = self._endpoint(version, kind)
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        middle = f"/namespaces/{metadata.get('namespace') or 'default'}" if namespaced else ""
        last = metadata["name"] if name is None else name
        return f"{base}{middle}/{plural}" + (f"/{last}" if last else "")

    def _endpoint(self, version: str, kind: str) -> tuple[str, bool]:
        with self._lock:
            if (version, kind) not in self._kinds:
                found = self.request("GET", f"/apis/{version}" if "/" in version else f"/api/{version}")
                assert found.status == 200, f"{version} is not served: {found.body}"
                for item in found.body["resources"]:
                    if "/" not in item["name"]:
                        self._kinds[version, item["kind"]] = item["name"], item["namespaced"]
            return self._kinds[version, kind]

    def get(self, manifest: Mapping[str, Any]) -> Any:
        """Return an object, None where there is none."""
        found = self.request("GET", self.path(manifest))
        return None if found.status == 404 else found.body


def wait_until(test: Callable[[], bool], what: str, seconds: float = _SECONDS) -> None:
    """Wait until the test holds; raises TimeoutError."""
    end = time.monotonic() + seconds
    while not test():
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(0.03)


@contextmanager
def running(home: Path) -> Iterator[ApiServer]:
    """Start the API server in a folder, and stop it at the end."""
    layout, spec = Layout(home), ClusterSpec(name=CLUSTER, actors=False)
    layout.etcd.mkdir(parents=True, exist_ok=True, mode=0o700)
    keys = pki.create(layout.pki, CLUSTER)
    numbers: list[int] = []
    for _ in PortNumbers.model_fields:
        numbers.append(free(set(numbers)))
    ports = PortNumbers(**dict(zip(PortNumbers.model_fields, numbers, strict=True)))
    server = f"https://127.0.0.1:{ports.api}"
    tokens = write_kubeconfigs(layout, keys, cluster=CLUSTER, server=server)
    plan = Plan(layout, keys, ports, spec, tools.ensure(TOOLS))
    processes = Processes(layout.home)
    try:
        processes.start(plan.etcd())
        processes.start(plan.api_server())
        api = ApiServer(server, tokens[USER], keys.ca, layout.kubeconfig)
        wait_until(lambda: _ready(api), "the API server's start")
        # Before the garbage collector starts: it looks for new kinds every 30 s only.
        _serve_custom_kinds(api)
        manager = plan.controller_manager()
        processes.start(replace(manager, arguments=[*manager.arguments, f"--controllers={','.join(_CONTROLLERS)}"]))
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        wait_until(lambda: api.get(account) is not None, "the controllers' start")
        yield api
    finally:
        processes.stop()
        shutil.rmtree(home, ignore_errors=True)


def _ready(api: ApiServer) -> bool:
    try:
        return api.request("GET", "/readyz").status == 200
    except urllib3.exceptions.HTTPError:
        return False


def _serve_custom_kinds(api: ApiServer) -> None:
    kinds: dict[tuple[str, str], tuple[str, str, set[str]]] = {
        (_GROUP, "Widget"): ("widgets", "Namespaced", {"v1", "v1beta1"}),
        (_GROUP, "ClusterWidget"): ("clusterwidgets", "Cluster", {"v1"}),
    }
    for kind in KINDS:
        if kind.group not in BUILTIN:
            known = kinds.setdefault((kind.group, kind.kind), (kind.plural, kind.scope, set()))
            known[2].update((kind.version, *kind.other_versions))
    for (group, kind_name), (plural, scope, versions) in kinds.items():
        body = definition(group, kind_name, plural, scope, sorted(versions))
        made = api.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)
        assert made.status == 201, made.body
    for (group, _), (plural, _, versions) in kinds.items():
        for version in versions:
            served = f"/apis/{group}/{version}/{plural}"
            wait_until(lambda path=served: api.request("GET", path).status == 200, f"serving {served}")  # type: ignore[misc]


def definition(group: str, kind: str, plural: str, scope: str, versions: list[str]) -> dict[str, Any]:
    """Return the definition of a kind whose objects may have any fields, and have a status of its own."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{group}",
            # Groups of *.k8s.io are protected; nobody has approved what the contract takes for them.
            "annotations": {"api-approved.kubernetes.io": "unapproved, experimental-only"},
        },
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"plural": plural, "kind": kind},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == versions[0],
                    "schema": schema,
                    "subresources": {"status": {}},
                }
                for version in versions
            ],
        },
    }
