"""Bringing the bootstrap onto the API server: a few waves, each as fast as the server takes it."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from core.apis import kinds
from core.progress import Step
from toolkit.engine.errors import SimulatorError
from toolkit.engine.tools.versions import KUBERNETES
from toolkit.simulator.access import rbac
from toolkit.simulator.admission import manifests as admission
from toolkit.simulator.api import Api, wait_until
from toolkit.simulator.bootstrap import nodes, openshift
from toolkit.simulator.manifests import Manifest
from toolkit.simulator.pods import condition
from toolkit.simulator.state import ClusterSpec

PARALLEL = 4
ESTABLISHED_SECONDS = 120.0


def fingerprint(
    spec: ClusterSpec,
    tools: Mapping[str, Path],
    kubelet_port: int,
    webhook: Manifest,
    catalogues: Mapping[str, int],
) -> str:
    """Return what changes whenever the bootstrap of `spec` would bring something else onto the cluster."""
    own = sorted(Path(__file__).parent.glob("*.py"))
    content = b"".join(path.read_bytes() for path in own)
    chosen = spec.model_dump(
        mode="json", include={"nodes", "release", "openshift", "actors", "kubernetes", "storage_scale", "hosted"}
    )
    facts = [chosen, _folders(tools), _access(spec), admission.sccs(spec.release), kubelet_port, webhook, catalogues]
    return hashlib.sha256(content + json.dumps(facts, default=str).encode()).hexdigest()[:16]


def bootstrap(
    spec: ClusterSpec,
    tools: Mapping[str, Path],
    *,
    api: Api,
    kubelet_port: int,
    webhook: Manifest,
    catalogues: Mapping[str, int],
    step: Step,
) -> None:
    """Create what is missing and re-apply what differs, nodes included; delete nodes that are no longer in `spec`.

    `catalogues` are the ports of the catalogues of operators, on loopback.

    Default SCCs and the pod network are only created: manual changes of them stay. The `webhook` comes last,
    and goes where there are no actors, as the process that it names runs beside them.

    Raises SimulatorError where the API server refuses an object, ValueError for an unknown hardware profile.
    """
    definitions = openshift.definitions(_folders(tools), hosted=spec.hosted)
    scale, scale_operators = _container_native(spec)
    statuses = [
        nodes.status(node, kubelet_port=kubelet_port, version=KUBERNETES[spec.kubernetes]) for node in spec.nodes
    ]
    waves: list[tuple[str, list[Manifest]]] = [
        ("namespaces and definitions", [*openshift.namespaces(), *definitions, *scale]),
        ("accounts and nodes", [*_access(spec), nodes.daemon_set(), *map(nodes.node, spec.nodes)]),
    ]
    for title, wave in waves:
        step.update(what=title)
        _apply_all(api, wave)
    _apply_all(api, statuses, suffix="/status")
    wait_until(
        lambda: _established(api, definitions),
        what="establishing the custom resource definitions",
        seconds=ESTABLISHED_SECONDS,
        check=lambda: None,
    )
    step.update(what="machine config pools and catalogues")
    version = [openshift.cluster_version(spec.openshift)] if spec.openshift else []
    # OpenShift has it since 4.6.
    toolkit = [openshift.driver_toolkit(spec.openshift)] if spec.openshift and spec.release != "4.4" else []
    resources = openshift.custom_resources(catalogues, spec.storage_classes, hosted=spec.hosted)
    for manifest in (*resources, openshift.infrastructure(hosted=spec.hosted), openshift.proxy(), *version, *toolkit):
        api.apply(_path(manifest), manifest)
    for manifest in (*admission.sccs(spec.release), openshift.pod_network()):
        api.create(_collection_path(manifest), manifest)
    for manifest in scale_operators:
        api.apply(_path(manifest), manifest)
    step.update(what="serving the custom resources")
    for definition in definitions:
        # The first request for a kind makes the server set up its storage; no later client has to wait.
        api.get(f"{_collection(definition)}?limit=1")
    existing = {item["metadata"]["name"] for item in api.get("/api/v1/nodes")["items"]}
    for name in existing - {node.name for node in spec.nodes}:
        api.delete(f"/api/v1/nodes/{name}")
    if spec.actors:
        api.apply(_path(webhook), webhook)
    else:
        api.delete(_path(webhook))


def _container_native(spec: ClusterSpec) -> tuple[list[Manifest], list[Manifest]]:
    """Return the namespaces and kinds of container-native Storage Scale, and its operators."""
    if not spec.storage_scale:
        return [], []
    # It imports most actors, for which commands that only read a stack should not wait.
    from toolkit.simulator.bootstrap import storage_scale  # noqa: PLC0415

    return storage_scale.namespaces_and_definitions(), storage_scale.operators()


def _access(spec: ClusterSpec) -> list[Manifest]:
    return [*rbac.manifests(), *admission.access(spec.release)]


def _folders(tools: Mapping[str, Path]) -> tuple[Path, ...]:
    return (tools["openshift-crds"], tools["kwok-crds"])


def _apply_all(api: Api, manifests: Iterable[Manifest], suffix: str = "") -> None:
    with ThreadPoolExecutor(PARALLEL) as pool:
        list(pool.map(lambda manifest: api.apply(_path(manifest) + suffix, manifest), manifests))


def _path(manifest: Manifest) -> str:
    return f"{_collection_path(manifest)}/{manifest['metadata']['name']}"


def _collection_path(manifest: Manifest) -> str:
    return _kind(manifest).path(manifest["metadata"].get("namespace"))


def _kind(manifest: Manifest) -> kinds.Kind:
    if manifest["kind"] in openshift.OWN_KINDS:
        return openshift.OWN_KINDS[manifest["kind"]]
    kind = kinds.find(manifest["apiVersion"], manifest["kind"])
    if kind is None:
        raise SimulatorError(
            f"the bootstrap has {manifest['apiVersion']} {manifest['kind']}, which core.apis.kinds lacks"
        )
    return kind


def _established(api: Api, definitions: Iterable[Manifest]) -> bool:
    names = {definition["metadata"]["name"] for definition in definitions}
    crds = api.get(kinds.CUSTOM_RESOURCE_DEFINITION.path())
    return names <= {item["metadata"]["name"] for item in crds["items"] if condition(item, "Established")}


def _collection(definition: Manifest) -> str:
    spec = definition["spec"]
    version = next(version["name"] for version in spec["versions"] if version["served"])
    return f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"
