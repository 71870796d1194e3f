"""A cluster that users have set up: what is on it, and the stack that comes to it."""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from core.apis import kinds, names
from tests.engine.kit import Cluster
from tests.support.lab import eventually
from tests.support.page_blocks import change, walked
from tests.support.user_objects import EVERY, created

SETTINGS, HOME = "Pulumi.corp.yaml", ".sim/corp"
_SERVERS = ("managedFields", "resourceVersion", "generation")
_WAITS = (names.AWAITED, "pulumi.com/")
"""Annotations by which an update waits for the version that OLM has installed."""
_PRODUCT = "nvidia.com/gpu.product"
"""Label by which GPU feature discovery names a node's GPUs."""
_LEFT_OUT = (
    *("Pod", "Node", "Event", "EndpointSlice", "Endpoints", "Lease", "ControllerRevision", "ReplicaSet"),
    *("SubjectAccessReview", "Binding"),
)
"""Kinds of objects that controllers make and change as they like, and those that no one can list."""
_OLM = ("olm.", "operators.coreos.com/")
"""Prefixes of labels and annotations by which OLM marks what belongs to operators and their groups."""
Live = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Used:
    """A checkout with a cluster in use, whose name is corp as that of the stack."""

    checkout: Path

    @property
    def api(self) -> Cluster:
        """The API server, as the user."""
        return Cluster(self.checkout / HOME / "kubeconfig", "hpc-sim-corp")

    @property
    def settings(self) -> Any:
        """The settings of the stack."""
        return yaml.safe_load((self.checkout / SETTINGS).read_text())["config"]["hpc:platform"]

    def run(self, command: str) -> str:
        """Run a command that ends well."""
        return walked(command, self.checkout)

    def create(self, file: Path) -> None:
        """Create what a file has, as a user does with `oc create`."""
        created(self.api, file)

    def get(self, kind: kinds.Kind, name: str, namespace: str | None = None) -> Any:
        """Return an object; None where there is none."""
        return self.api.get(kind.path(namespace, name))

    def change(self, text: str, without: Collection[str] = ()) -> None:
        """Change settings of the stack, and remove some."""
        change(self.checkout / SETTINGS, text)
        self.edit(lambda platform: [platform.pop(field, None) for field in without])

    def edit(self, edit: Callable[[Any], object]) -> None:
        """Edit the settings of the stack."""
        file = self.checkout / SETTINGS
        content = yaml.safe_load(file.read_text())
        edit(content["config"]["hpc:platform"])
        file.write_text(yaml.safe_dump(content, sort_keys=False))

    def diff(self) -> tuple[str, set[str]]:
        """Return what a review prints, and what the update would do with objects; policies may refuse it."""
        file = self.checkout / HOME / "review.json"
        printed = self.run(f"./hpc diff --stack corp --json {file} || true")
        return printed, {each["op"] for each in json.loads(file.read_text())["changes"]}

    def everything(self) -> Live:
        """Return all objects that no controller owns or comes to remove."""
        live: Live = {}
        for kind in (each for each in EVERY if each.kind not in _LEFT_OUT):
            for item in (self.api.get(kind.path()) or {"items": ()})["items"]:
                body = {**item, "kind": kind.kind}
                if "ownerReferences" not in body["metadata"] and not _is_olms(body):
                    live[named(body)] = stable(body)
        return live

    def installed(self) -> None:
        """Wait until OLM has installed what Subscriptions name."""

        def latest() -> bool:
            # A Subscription is at its channel's head before its operator's Deployment is ready.
            versions = self.api.get(kinds.CLUSTER_SERVICE_VERSION.path())["items"]
            succeeded = {
                (version["metadata"]["namespace"], version["metadata"]["name"])
                for version in versions
                if version.get("status", {}).get("phase") == "Succeeded"
            }
            subscriptions = self.api.get(kinds.SUBSCRIPTION.path())["items"]
            return all(
                subscription.get("status", {}).get("state") == "AtLatestKnown"
                and (subscription["metadata"]["namespace"], subscription["status"].get("installedCSV")) in succeeded
                for subscription in subscriptions
            )

        eventually(latest, "an operator is not installed at its channel's head")

    def set_up(self, operators: Path, objects: Path, *, gpu_nodes: int) -> None:
        """Create operators and then, once they are installed, what they act on, until so many nodes offer GPUs."""
        self.create(operators)
        self.installed()
        self.create(objects)
        self.offers_gpus(gpu_nodes)

    def offers_gpus(self, number: int) -> None:
        """Wait until so many nodes offer GPUs and say which: the labels come after the devices."""

        def offered() -> bool:
            nodes = self.api.get(kinds.NODE.path())["items"]
            offering = [node for node in nodes if names.GPU_RESOURCE in node["status"]["capacity"]]
            return len(offering) == number and all(_PRODUCT in node["metadata"]["labels"] for node in offering)

        eventually(offered, "nodes do not offer their GPUs", self._unready)

    def _unready(self) -> list[tuple[object, object]]:
        """Return the pods that are not ready, and what the GPU Operator says."""
        pods = [
            (pod["metadata"]["name"], pod.get("status"))
            for pod in self.api.get(kinds.POD.path())["items"]
            if pod.get("status", {}).get("phase") not in ("Running", "Succeeded")
        ]
        return [
            *pods,
            *(
                (item["metadata"]["name"], item.get("status"))
                for item in self.api.get("/apis/nvidia.com/v1/clusterpolicies")["items"]
            ),
        ]


def names_in(*files: Path) -> set[str]:
    """Return the names of the objects in files."""
    return {named(body) for file in files for body in yaml.safe_load_all(file.read_text())}


def named(body: dict[str, Any]) -> str:
    """Return kind, namespace and name of an object as the settings have them."""
    metadata = body["metadata"]
    return "/".join(filter(None, (body["kind"], metadata.get("namespace"), metadata["name"])))


def _is_olms(body: dict[str, Any]) -> bool:
    """Return whether OLM makes an object, and changes it with what an operator's group provides."""
    return "olm.owner" in (body["metadata"].get("labels") or {})


def stable(body: dict[str, Any]) -> dict[str, Any]:
    """Return an object but for its status and what the server counts."""
    metadata = {key: value for key, value in body["metadata"].items() if key not in _SERVERS}
    for marks in ("labels", "annotations"):
        metadata[marks] = {key: text for key, text in (metadata.get(marks) or {}).items() if not key.startswith(_OLM)}
    if "aggregationRule" in body:  # a controller fills it in
        body = {**body, "rules": []}
    if body.get("kind") == kinds.CLUSTER_SERVICE_VERSION.kind:
        texts = metadata.get("annotations", {}).items()
        metadata["annotations"] = {key: text for key, text in texts if not key.startswith(_WAITS)}
    return {key: value for key, value in body.items() if key != "status"} | {"metadata": metadata}


def differing(before: Live, after: Live) -> set[str]:
    """Return the names of objects that are gone or not as they were."""
    return {name for name, body in before.items() if after.get(name) != body}
