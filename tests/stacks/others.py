"""What the stacks that are not golden declare, in short: how their platforms differ, and what their tenants have."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.golden import STACKS as GOLDEN
from tests.support.recorded import environment, of_kind
from toolkit.render.manifests import manifests

OF_TENANTS = (
    *(
        "MPIJob",
        "Job",
        "TrainJob",
        "BuildConfig",
        "ImageStream",
        "PersistentVolumeClaim",
        "PersistentVolume",
        "ResourceQuota",
    ),
    *("ClusterQueue", "LocalQueue", "Namespace", "Node", "ServiceAccount", "RoleBinding", "ClusterRoleBinding"),
    # Alerts follow the machines; a test of the platforms holds whose they are about.
    "PrometheusRule",
)
"""Kinds that differ by what the tenants are."""
_LONG = 100


def platform(stack: str) -> dict[str, object]:
    """Return objects that the golden stacks do not declare, and fields with another value.

    Of a list of another length the length is given, and a long text is not: a test of the platforms holds it.
    """
    known: dict[str, list[dict[str, Any]]] = {}
    for manifest in (each for golden in reversed(GOLDEN) for each in manifests(environment(golden))):
        known.setdefault(_title(manifest), []).append(_content(manifest))
    found: dict[str, object] = {}
    for manifest in manifests(environment(stack)):
        title, content = _title(manifest), _content(manifest)
        if manifest["kind"] in OF_TENANTS or content in known.get(title, []):
            continue
        if title in known:
            found |= {f"{title} {path[1:]}": value for path, value in _fields(content, known[title][0], "")}
        else:
            found[title] = "new"
    return found


def tenants(stack: str) -> dict[str, object]:
    """Return jobs with their sizes and images, quotas of GPUs, claims and builds."""
    jobs = {name: _job(each["spec"]) for name, each in named(stack, "MPIJob", "Job", "TrainJob").items()}
    quotas = {name: each["spec"]["hard"] for name, each in named(stack, "ResourceQuota").items()}
    queues = {}
    for item in of_kind(environment(stack), "ClusterQueue"):
        (group,) = item.inputs["spec"]["resourceGroups"]
        amounts = {each["name"]: each["nominalQuota"] for each in group["flavors"][0]["resources"]}
        queues[item.inputs["metadata"]["name"]] = amounts["nvidia.com/gpu"]
    claims = {name: _claim(each["spec"]) for name, each in named(stack, "PersistentVolumeClaim").items()}
    builds = {
        name: f"{each['spec']['strategy']['dockerStrategy']['from']['name']} -> {each['spec']['output']['to']['name']}"
        for name, each in named(stack, "BuildConfig").items()
    }
    found = {"jobs": jobs, "quotas": quotas, "queues": queues, "claims": claims, "builds": builds}
    return {name: part for name, part in found.items() if part}


def named(stack: str, *kinds: str) -> dict[str, dict[str, Any]]:
    """Return the inputs of a stack's objects of these kinds, by namespace and name."""
    return {
        f"{item.inputs['metadata']['namespace']}/{item.inputs['metadata']['name']}": dict(item.inputs)
        for kind in kinds
        for item in of_kind(environment(stack), kind)
    }


def _job(spec: Mapping[str, Any]) -> str:
    if "trainer" in spec:
        trainer = spec["trainer"]
        pods, limits, image = trainer["numNodes"], trainer["resourcesPerNode"]["limits"], trainer["image"]
    else:
        workers = spec["mpiReplicaSpecs"]["Worker"] if "mpiReplicaSpecs" in spec else spec
        (container,) = workers["template"]["spec"]["containers"]
        pods = workers.get("replicas", workers.get("parallelism", 1))
        limits, image = container["resources"]["limits"], container["image"]
    devices = sum(name.startswith("rdma/") for name in limits)
    gpus, cpus, memory = (limits.get(name, "no") for name in ("nvidia.com/gpu", "cpu", "memory"))
    return f"pods {pods}, GPUs {gpus}, RDMA devices {devices}, CPUs {cpus}, memory {memory}, {image}"


def _claim(spec: Mapping[str, Any]) -> str:
    modes, amount = ", ".join(spec["accessModes"]), spec["resources"]["requests"]["storage"]
    return f"{amount} of {spec['storageClassName']}, {modes}"


def _fields(own: Any, golden: Any, path: str) -> Iterator[tuple[str, object]]:
    """Yield the path and value of what differs."""
    if own == golden:
        return
    if isinstance(own, dict) and isinstance(golden, dict):
        for key in sorted(own.keys() | golden.keys()):
            yield from _fields(own.get(key), golden.get(key), f"{path}.{key}")
    elif isinstance(own, list) and isinstance(golden, list):
        if len(own) != len(golden):
            yield path, f"{len(own)} entries"
            return
        for index, pair in enumerate(zip(own, golden, strict=True)):
            yield from _fields(*pair, f"{path}.{index}")
    else:
        yield path, "another text" if isinstance(own, str) and len(own) > _LONG else own


def _content(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in manifest.items() if key != "metadata"}


def _title(manifest: Mapping[str, Any]) -> str:
    return f"{manifest['kind']} {manifest['metadata']['name']}"
