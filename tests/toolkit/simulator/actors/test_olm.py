"""What the real OLM is given in place of the pods of catalogues."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from toolkit.simulator.actors.olm import Olm
from toolkit.simulator.processes import ports
from toolkit.simulator.state import CATALOGUES

PORTS = {field: 20000 + number for number, field in enumerate(CATALOGUES.values())}
MIRROR = "mirror.example.com/redhat/redhat-operator-index:v4.20"
ADDRESS = ("10.128.0.7", 50051)


def registry_pod(image: str, *, ready: bool = True, **spec: Any) -> dict[str, Any]:
    """Return the pod that OLM makes of a CatalogSource."""
    return {
        "metadata": {"labels": {"olm.catalogSource": "mirror"}},
        "spec": {"containers": [{"image": image}], **spec},
        "status": {
            "phase": "Running",
            "podIP": ADDRESS[0],
            "conditions": [{"type": "Ready", "status": str(ready)}],
        },
    }


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a runtime whose pods a test changes, with OLM started as far as it needs no tool."""
    monkeypatch.setattr(ports, "free", lambda: 29999)
    changed: list[Any] = []
    settings = SimpleNamespace(home=tmp_path, ports=PORTS, tools={})
    pods = SimpleNamespace(on_change=changed.append, changed=changed)
    made: Any = SimpleNamespace(settings=settings, pods=pods, listening={})
    monkeypatch.setattr(Olm, "_start", lambda _: None)
    Olm(made, SimpleNamespace(port=1)).start()  # type: ignore[arg-type]
    return made


@pytest.mark.parametrize(
    ("pod", "port"),
    [
        (registry_pod(MIRROR), PORTS["redhat_operators"]),
        (registry_pod("registry/opm:v1", initContainers=[{"image": MIRROR}]), PORTS["redhat_operators"]),
        (registry_pod("site.example.com/own-index:v1"), 29999),
        (registry_pod(MIRROR, ready=False), None),
    ],
)
def test_a_registry_pod_serves_what_its_image_has(runtime: Any, pod: Any, port: int | None) -> None:
    """It leads to the catalogue of its index image, an unknown one to an empty catalogue, and nowhere until it runs."""
    (change,) = runtime.pods.changed
    change(("openshift-marketplace", "mirror-x"), None, pod)
    assert runtime.listening.get(ADDRESS) == port
    change(("openshift-marketplace", "mirror-x"), pod, None)
    assert runtime.listening == {}


def test_other_pods_serve_no_catalogue(runtime: Any) -> None:
    """Only OLM's label makes a pod one of a catalogue."""
    (change,) = runtime.pods.changed
    pod = registry_pod(MIRROR)
    pod["metadata"]["labels"] = {}
    change(("ns", "p"), None, pod)
    assert runtime.listening == {}
