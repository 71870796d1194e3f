"""A real API server as the judge: it serves the real definitions, and gets dry runs only."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kubernetes import client, config

from core.apis import kinds
from tests.conformance.definitions import Manifest
from toolkit.simulator.cluster import Cluster

MANAGER = "conformance"
DRY_RUN = (("dryRun", "All"), ("fieldValidation", "Strict"))
ESTABLISHING_SECONDS = 240
PARALLEL = 8


class Server:
    """One API server, as its administrator."""

    def __init__(self, cluster: Cluster) -> None:
        settings = client.Configuration()
        settings.connection_pool_maxsize = PARALLEL
        file, context = str(cluster.kubeconfig), cluster.context
        config.load_kube_config(file, context, settings)  # type: ignore[no-untyped-call]
        self._client: Any = client.ApiClient(settings)
        self._served: dict[str, Mapping[str, Any]] = {}

    def faults(self, manifest: Manifest) -> list[str]:
        """Return what the server has against a manifest: its refusal, and its warnings; it keeps nothing."""
        status, text, warnings = self._apply(manifest, DRY_RUN)
        refusals = [] if status < 300 else [f"{status}: {json.loads(text)['message']}"]
        return [f"{manifest['kind']} {manifest['metadata']['name']}: {each}" for each in (*refusals, *warnings)]

    def all_faults(self, manifests: Iterable[Manifest]) -> list[str]:
        """Return the faults of all manifests, some of which are sent at the same time."""
        with ThreadPoolExecutor(PARALLEL) as pool:
            return [fault for found in pool.map(self.faults, manifests) for fault in found]

    def install(self, manifests: Sequence[Manifest]) -> None:
        """Create or update objects for good; definitions among them are served afterwards."""
        for manifest in manifests:
            status, text, _ = self._apply(manifest)
            assert status < 300, text
        deadline = time.monotonic() + ESTABLISHING_SECONDS
        for manifest in manifests:
            if manifest["kind"] == kinds.CUSTOM_RESOURCE_DEFINITION.kind:
                spec = manifest["spec"]
                for version in spec["versions"]:
                    while self._resource(f"{spec['group']}/{version['name']}", spec["names"]["kind"]) is None:
                        assert time.monotonic() < deadline, f"{manifest['metadata']['name']} is not served"
                        time.sleep(0.05)

    def serves(self, manifest: Manifest) -> bool:
        """Tell whether the server has the manifest's kind and version."""
        return self._resource(manifest["apiVersion"], manifest["kind"]) is not None

    def _apply(self, manifest: Manifest, query: Iterable[tuple[str, str]] = ()) -> tuple[int, bytes, list[str]]:
        resource = self._resource(manifest["apiVersion"], manifest["kind"])
        if resource is None:
            return 404, b'{"message": "the server has no such kind"}', []
        metadata = manifest["metadata"]
        space = f"/namespaces/{metadata['namespace']}" if resource["namespaced"] else ""
        path = f"{_root(manifest['apiVersion'])}{space}/{resource['name']}/{metadata['name']}"
        return self._request("PATCH", path, manifest, [*query, ("fieldManager", MANAGER), ("force", "true")])

    def _resource(self, api_version: str, kind: str) -> Mapping[str, Any] | None:
        known = self._served.get(f"{api_version} {kind}")
        if known is None:
            status, text, _ = self._request("GET", _root(api_version))
            for each in json.loads(text)["resources"] if status < 300 else ():
                if "/" not in each["name"]:
                    self._served[f"{api_version} {each['kind']}"] = each
            known = self._served.get(f"{api_version} {kind}")
        return known

    def _request(
        self, method: str, path: str, body: Manifest | None = None, query: Iterable[tuple[str, str]] = ()
    ) -> tuple[int, bytes, list[str]]:
        content = {"Content-Type": "application/apply-patch+yaml"} if body else {}
        headers = {"Accept": "application/json", **content}
        serialized = self._client.param_serialize(
            method, path, query_params=list(query), header_params=headers, auth_settings=["BearerToken"]
        )
        response = self._client.call_api(*serialized[:3], body, [], 30)
        text = response.read()
        return response.status, text, response.response.headers.getlist("Warning")


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def served_together(definitions: Iterable[Manifest]) -> list[dict[str, Any]]:
    """Return one definition of each name with the versions of all, of which the first ones count.

    A manifest is judged in the version that it is of, so versions need no conversion.
    """
    found: dict[str, dict[str, Any]] = {}
    for definition in definitions:
        name = definition["metadata"]["name"]
        spec = {key: value for key, value in definition["spec"].items() if key != "conversion"}
        versions = found[name]["spec"]["versions"] if name in found else []
        known = {version["name"] for version in versions}
        more = [
            version | {"storage": version["storage"] and not versions}
            for version in spec["versions"]
            if version["name"] not in known
        ]
        found.setdefault(
            name,
            {
                "apiVersion": kinds.CUSTOM_RESOURCE_DEFINITION.api_version,
                "kind": kinds.CUSTOM_RESOURCE_DEFINITION.kind,
                # Groups of Kubernetes' own require an annotation with the approval of the API.
                "metadata": {"name": name, "annotations": definition["metadata"].get("annotations") or {}},
            },
        )["spec"] = spec | {"versions": [*versions, *more]}
    return list(found.values())
