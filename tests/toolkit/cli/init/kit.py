"""A cluster that is queried: an API that answers from a table, and the objects in it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from toolkit.cli.shared.cluster_client import Cluster, RefusedError

TOKEN = "sha256~c2VjcmV0LXRva2VuLW9mLXRoZS11c2Vy"
H100 = "NVIDIA-H100-80GB-HBM3"
CONTEXT = "site/api-site-example-com:6443/kube:admin"


@dataclass(frozen=True)
class Api(Cluster):
    """An API server whose answers are a table: path -> the objects there, or the status and message of a refusal."""

    answers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def server(self) -> str:
        """Return the URL of the API server."""
        return "https://api.site.example.com:6443"

    def get(self, path: str, **_query: str) -> dict[str, Any] | None:
        """Answer a GET."""
        answer = self.answers.get(path)
        if isinstance(answer, tuple):
            status, message = answer
            raise RefusedError(f"refuses {path}: {message}", "Log in again.", f"{status}, {message}")
        if answer == "html":
            json.loads("<html>")
        return dict(answer) if answer is not None else None


def api(objects: Mapping[Kind, Any], **refused: tuple[int, str]) -> Api:
    """Return the API of a cluster with these objects; `refused` are plurals of kinds that cannot be read."""
    answers: dict[str, Any] = {}
    for kind, found in objects.items():
        answers[kind.path()] = {"items": found}
        answers |= {kind.path(None, each["metadata"]["name"]): each for each in found}
    answers |= {path: refused[path.rpartition("/")[2]] for path in answers if path.rpartition("/")[2] in refused}
    return Api(Path("kubeconfig"), CONTEXT, answers=answers)


def obj(name: str, namespace: str = "", **fields: Any) -> dict[str, Any]:
    """Return an object."""
    meta = {key: fields.pop(key) for key in ("labels", "annotations") if key in fields}
    return {"metadata": {"name": name, **({"namespace": namespace} if namespace else {}), **meta}, **fields}


def node(name: str, role: str = "worker", cpus: int = 16, gib: int = 60, **labels: str) -> dict[str, Any]:
    """Return a node; `labels` have `__` for a slash and `_` for a dot."""
    own = {key.replace("__", "/").replace("_", "."): value for key, value in labels.items()}
    capacity = {"cpu": str(cpus), "memory": f"{gib * 1024**2}Ki"}
    return obj(
        name,
        labels={f"node-role.kubernetes.io/{role}": "", "kubernetes.io/arch": "amd64", **own},
        status={"capacity": capacity, "nodeInfo": {"architecture": "amd64"}},
    )


def dgx(name: str, product: str = H100, machine: str = "DGXH100", **changes: Any) -> dict[str, Any]:
    """Return a DGX H100 as it is when node and GPU feature discovery run on it."""
    found = node(name, **{"cpus": 224, "gib": 2015, **changes})
    found["metadata"]["labels"] |= {
        "feature.node.kubernetes.io/pci-0302_10de.present": "true",
        "feature.node.kubernetes.io/pci-0200_15b3.present": "true",
        "nvidia.com/gpu.product": product,
        "nvidia.com/gpu.count": "8",
        **({"nvidia.com/gpu.machine": machine} if machine else {}),
    }
    return found


def package(name: str, source: str, *channels: str, modes: tuple[str, ...] = ("OwnNamespace",)) -> dict[str, Any]:
    """Return a PackageManifest; its first channel is the default one."""
    supported = [{"type": mode, "supported": True} for mode in modes]
    status = {
        "packageName": name,
        "catalogSource": source,
        "catalogSourceNamespace": "openshift-marketplace",
        "defaultChannel": channels[0],
        "channels": [{"name": each, "currentCSVDesc": {"installModes": supported}} for each in channels],
    }
    return obj(name, "openshift-marketplace", status=status)


def subscription(package: str, namespace: str, channel: str, **status: Any) -> dict[str, Any]:
    """Return a Subscription."""
    spec = {"name": package, "channel": channel, "source": "mirror", "sourceNamespace": "openshift-marketplace"}
    return obj(package, namespace, spec=spec, status=status)


def cluster(**changed: Any) -> dict[Kind, Any]:
    """Return the objects of a cluster of four DGX H100 on OpenShift 4.20; `changed` is by the names of `kinds`."""
    objects = {
        kinds.CLUSTER_VERSION: [
            obj(
                "version",
                status={"desired": {"version": "4.20.9"}, "history": [{"state": "Completed", "version": "4.20.8"}]},
            )
        ],
        kinds.NODE: [node(f"m{number}", "master") for number in (1, 2, 3)]
        + [dgx(f"gpu-0{n}.lab") for n in (1, 2, 3, 4)],
        kinds.NAMESPACE: [
            {"metadata": {"name": "kube-system", "uid": "4f4a3f5e-8d5a-4c55-9b1e-0a6f0c4f8a11"}},
            obj("default", annotations={"openshift.io/sa.scc.uid-range": "1000000000/10000"}),
        ],
        kinds.PACKAGE_MANIFEST: [
            package("nfd", "redhat-operators", "stable"),
            package("gpu-operator-certified", "certified-operators", "v26.7", "v26.3"),
            package("nvidia-network-operator", "certified-operators", "v26.4"),
            package("kubernetes-nmstate-operator", "redhat-operators", "stable"),
        ],
        kinds.STORAGE_CLASS: [
            obj("block", provisioner="rbd"),
            obj("files", provisioner="cephfs", annotations={"storageclass.kubernetes.io/is-default-class": "true"}),
        ],
        kinds.SECURITY_CONTEXT_CONSTRAINTS: [obj("restricted-v2")],
        kinds.NETWORK_CONFIG: [obj("cluster", status={"clusterNetworkMTU": 8900})],
        kinds.SUBSCRIPTION: [],
        kinds.CLUSTER_SERVICE_VERSION: [],
        kinds.OPERATOR_GROUP: [],
        kinds.DEPLOYMENT: [],
    }
    return objects | {getattr(kinds, name): found for name, found in changed.items()}


def kubeconfig(folder: Path, *contexts: str) -> Path:
    """Return a kubeconfig with a token, whose server does not exist."""
    names = contexts or (CONTEXT,)
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": names[0],
        "clusters": [{"name": "lab", "cluster": {"server": "http://127.0.0.1:9"}}],
        "users": [{"name": "admin", "user": {"token": TOKEN}}],
        "contexts": [{"name": name, "context": {"cluster": "lab", "user": "admin"}} for name in names],
    }
    file = folder / "kubeconfig"
    file.write_text(json.dumps(content))
    return file
