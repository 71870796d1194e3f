"""NVIDIA's plugin for dynamic resource allocation on a node: what it publishes at its start, and again."""

from types import SimpleNamespace
from typing import Any

import pytest

from core.apis import kinds
from core.apis.names import GPU_CLIQUE
from core.hardware.profiles import profile
from tests.support.stored_objects import StoredObjects
from toolkit.simulator import names
from toolkit.simulator.actors.dra_plugin import KubeletPlugin, containers
from toolkit.simulator.actors.podactor import EVERY
from toolkit.simulator.actors.resource_drivers import GpuDriver

IMAGE = "registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu:v0.5.0"
CLIQUE = "11111111-2222-3333-4444-555555555555.32766"


def node(**annotations: str) -> dict[str, Any]:
    """Return a DGX H200 whose system has the driver."""
    marks = {names.PROFILE: "dgx-h200", names.HOST_DRIVER: "true", **annotations}
    return {"metadata": {"name": "gpu01", "uid": "1", "annotations": marks}}


def container(program: str, **variables: str) -> dict[str, Any]:
    """Return a container of the plugin's pod."""
    env = [{"name": name, "value": value} for name, value in variables.items()]
    return {"name": program, "image": IMAGE, "command": ["bash", "-c"], "args": [f"{program} -v 4"], "env": env}


def plugin(api: StoredObjects, *programs: dict[str, Any], pod_runs: bool = False) -> KubeletPlugin:
    """Return the plugin of a node that runs these containers; `pod_runs`: when the plugin is stopped, too."""
    pod = {
        "metadata": {"name": "plugin", "namespace": "dra", "uid": "p"},
        "spec": {"nodeName": "gpu01", "containers": [*programs]},
    }
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    current = {**pod, "status": ready} if pod_runs else None
    runtime: Any = SimpleNamespace(
        account=lambda _: api,
        kubelet=api,
        pods=SimpleNamespace(get=lambda *_: current),
        profile=lambda obj: profile(obj["metadata"]["annotations"][names.PROFILE]),
        running_on=lambda _: [],
        present_on=lambda _: [],
        resource_drivers={},
    )
    logs: Any = SimpleNamespace(append=lambda *_: None)
    return KubeletPlugin(runtime, logs, pod)


def slices(api: StoredObjects) -> dict[str, Any]:
    """Return driver -> spec of its slice."""
    return {obj["spec"]["driver"]: obj["spec"] for obj in api.list(kinds.RESOURCE_SLICE)["items"]}


GPUS = container("gpu-kubelet-plugin")
DOMAINS = container("compute-domain-kubelet-plugin", GPU_CLIQUE_LABEL_ENABLED="true")


def test_containers_say_which_drivers_there_are() -> None:
    """Either plugin may be switched off, and the order does not matter."""
    for programs, drivers in (
        ((GPUS,), {"gpu.nvidia.com"}),
        ((DOMAINS,), {"compute-domain.nvidia.com"}),
        ((DOMAINS, GPUS), {"gpu.nvidia.com", "compute-domain.nvidia.com"}),
    ):
        assert {*containers({"spec": {"containers": [*programs]}})} == drivers


def test_another_start_with_the_same_gpus_writes_nothing() -> None:
    """A plugin that is updated leaves its slice; GPUs that are divided meanwhile raise the pool's generation."""
    api = StoredObjects((kinds.NODE, node()))
    plugin(api, GPUS)._publish(EVERY)
    first = api.list(kinds.RESOURCE_SLICE)["items"]
    plugin(api, GPUS)._publish(EVERY)
    assert api.list(kinds.RESOURCE_SLICE)["items"] == first
    assert slices(api)["gpu.nvidia.com"]["pool"]["generation"] == 1
    api.patch(kinds.NODE, "gpu01", {"metadata": {"annotations": {names.MIG_CONFIG: "all-1g.18gb"}}})
    made = plugin(api, GPUS)
    made._publish(EVERY)
    (spec,) = slices(api).values()
    assert (spec["pool"]["generation"], len(spec["devices"])) == (2, 56)
    assert isinstance(made.runtime.resource_drivers["gpu01", "gpu.nvidia.com"], GpuDriver)


def test_a_node_without_driver_offers_no_gpus() -> None:
    """The plugin finds no GPU that no driver has made usable."""
    bare = node()
    del bare["metadata"]["annotations"][names.HOST_DRIVER]
    api = StoredObjects((kinds.NODE, bare))
    plugin(api, GPUS)._publish(EVERY)
    assert slices(api)["gpu.nvidia.com"]["devices"] == []


@pytest.mark.parametrize("annotations", [{}, {names.NVLINK_CLIQUE: CLIQUE}])
def test_the_cliques_label_lives_as_long_as_the_plugin(annotations: dict[str, str]) -> None:
    """A node in a rack of NVLink gets the label of its clique, and loses it when the plugin ends."""
    api = StoredObjects((kinds.NODE, node(**annotations)))
    made = plugin(api, DOMAINS)
    made._publish(EVERY)
    labels = api.get(kinds.NODE, "gpu01")["metadata"].get("labels") or {}
    assert labels.get(GPU_CLIQUE) == annotations.get(names.NVLINK_CLIQUE)
    made.stop()
    assert GPU_CLIQUE not in (api.get(kinds.NODE, "gpu01")["metadata"].get("labels") or {})
    assert made.runtime.resource_drivers == {}


def test_the_cliques_label_stays_when_only_the_simulation_stops() -> None:
    """A cluster that is stopped and started again has its labels; the next pod's driver is not taken away."""
    api = StoredObjects((kinds.NODE, node(**{names.NVLINK_CLIQUE: CLIQUE})))
    made = plugin(api, DOMAINS, pod_runs=True)
    made._publish(EVERY)
    of_next: Any = object()
    made.runtime.resource_drivers["gpu01", "compute-domain.nvidia.com"] = of_next
    made.stop()
    assert api.get(kinds.NODE, "gpu01")["metadata"]["labels"][GPU_CLIQUE] == CLIQUE
    assert made.runtime.resource_drivers == {("gpu01", "compute-domain.nvidia.com"): of_next}
