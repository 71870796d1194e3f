"""The objects of the source documents, as printed: every fault that section E of the inventory names is found."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any

import pytest
import yaml

from policies.check import Checker
from policies.configuration import Configuration
from policies.manifests.inventory import Inventory
from policies.manifests.objects import objects
from policies.manifests.values import Path, show
from policies.rule import Finding

FILE = File(__file__).with_name("printed.yaml")
POD: Path = ("spec",)
TEMPLATE: Path = ("spec", "template", "spec")
WORKER: Path = ("spec", "mpiReplicaSpecs", "Worker", "template", "spec")
LAUNCHER: Path = ("spec", "mpiReplicaSpecs", "Launcher", "template", "spec")
FIRST: Path = ("containers", 0)


def listing(identity: str) -> Any:
    """Return the object that a row prints; a fresh copy."""
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))[identity]


def put(tree: Any, target: Path, value: Any) -> Any:
    """Return `tree` with `value` at `target`."""
    place = tree
    for key in target[:-1]:
        place = place[key]
    place[target[-1]] = value
    return tree


@dataclass(frozen=True)
class Fault:
    """One fault: its id, the manifests as printed, the rule that finds it, and where."""

    identity: str
    printed: Callable[[], list[Any]]
    rule: str
    places: tuple[Path, ...]
    configuration: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.identity}-{self.rule}"


def _namespace(start: int) -> Any:
    annotations = {"openshift.io/sa.scc.uid-range": f"{start}/10000"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "adas", "annotations": annotations}}


def _in_adas(manifest: Any) -> Any:
    return put(manifest, ("metadata", "namespace"), "adas")


FAULTS = (
    Fault(
        "E-02",
        lambda: [listing("R-4.3-1")],
        "image-registry",
        ((*WORKER, *FIRST, "image"),),
    ),
    Fault(
        "E-11",
        lambda: [listing("R-3.4.2-3")],
        "rdma-plugin-config",
        (("data", "config.json"),),
    ),
    Fault(
        "E-12",
        lambda: [
            put(
                listing("R-3.4.2-3"),
                ("data", "config.json"),
                '{"configList": [{"resourceName": "shared_ib0", "rdmaHcaMax": 100, "devices": ["ib0"], '
                '"selectors": {"ifNames": ["ib0"]}}]}',
            )
        ],
        "rdma-plugin-config",
        (("data", "config.json"),),
    ),
    Fault("E-13", lambda: [listing("R-3.4.3-2")], "scc-narrow-groups", (("groups", 0),)),
    Fault(
        "E-13a",
        lambda: [listing("R-3.4.3-2")],
        "scc-mpi-only-ipc-lock",
        (("groups",), ("users",), ("defaultAddCapabilities",)),
    ),
    Fault("E-14", lambda: [listing("R-3.4.3-5")], "known-fields", (("roleRef", "namespace"), ("userNames",))),
    Fault(
        "E-15",
        lambda: [listing("R-3.4.3-6")],
        "known-fields",
        ((*POD, "securityContext", "capabilities"), (*POD, "serviceAccount")),
    ),
    Fault("E-15a", lambda: [listing("R-3.4.3-6")], "valid-names", ((*POD, *FIRST, "name"),)),
    Fault(
        "E-16",
        lambda: [put(listing("R-4.3-1"), ("apiVersion",), "kubeflow.org/v2beta1")],
        "mpi-sshd-not-root",
        (("spec", "sshAuthMountPath"),),
    ),
    Fault(
        "E-17",
        lambda: [_namespace(1_000_000_000), _in_adas(listing("R-4.3-1"))],
        "run-as-user-in-range",
        ((*WORKER, *FIRST, "securityContext", "runAsUser"),),
    ),
    Fault(
        "E-18",
        lambda: [put(listing("R-4.3-1"), (*WORKER, *FIRST, "resources", "limits", "rdma/shared_ib0"), 2)],
        "rdma-exactly-one",
        ((*WORKER, *FIRST, "resources", "limits", "rdma/shared_ib0"),),
    ),
    Fault("E-19", lambda: [listing("R-4.3-1")], "memlock-raised", ((*WORKER, *FIRST, "securityContext", "runAsUser"),)),
    Fault(
        "E-20",
        lambda: [put(listing("R-4.3-1"), ("apiVersion",), "kubeflow.org/v2beta1")],
        "mpi-fields-of-version",
        (("spec", "cleanPodPolicy"),),
    ),
    Fault("E-20a", lambda: [listing("R-4.3-1")], "api-served", (("apiVersion",),)),
    Fault("E-21", lambda: [listing("R-3.4.5-6")], "known-fields", (("metadata", "release"), ("status",))),
    Fault(
        "E-22",
        lambda: [listing("R-3.4.5-6")],
        "scale-gui-tls",
        (("spec", "clusters", 0, "secureSslMode"), ("spec", "clusters", 1, "secureSslMode")),
    ),
    Fault(
        "E-24",
        lambda: [listing("R-4.1-2")],
        "known-fields",
        tuple((*TEMPLATE, *FIRST, "resources", key) for key in ("securityContext", "command", "args")),
    ),
    Fault(
        "E-25",
        lambda: [listing("R-4.4-6")],
        "known-fields",
        ((*WORKER, *FIRST, "resources", "volumeMounts"), (*WORKER, *FIRST, "capabilities")),
    ),
    Fault("E-36", lambda: [listing("R-4.2-2"), listing("R-4.2-4")], "volume-claim-pair", (("spec", "selector"),)),
    Fault("E-39", lambda: [listing("S-4.4")], "image-pinned", ((*POD, *FIRST, "image"),)),
    Fault(
        "E-40",
        lambda: [listing("S-4.4")],
        "known-fields",
        ((*POD, *FIRST, "runAsUser"),),
    ),
    Fault("E-40a", lambda: [listing("S-4.4")], "not-privileged", ((*POD, *FIRST, "securityContext", "privileged"),)),
    Fault(
        "E-40b",
        lambda: [listing("S-4.4")],
        "no-host-path",
        ((*POD, "volumes", 0, "hostPath"), (*POD, "volumes", 1, "hostPath")),
    ),
    Fault("E-40c", lambda: [listing("S-4.4")], "no-bare-pod", (("kind",),)),
    Fault("E-52", lambda: [listing("B-4.3")], "valid-names", (("metadata", "name"),)),
    Fault(
        "E-53",
        lambda: [listing("B-6.1")],
        "mpi-launcher-no-gpu",
        ((*LAUNCHER, *FIRST, "resources", "limits", "nvidia.com/gpu"),),
    ),
    Fault("E-54", lambda: [listing("B-5.2")], "mpi-worker-names", (("metadata", "name"),)),
    Fault("E-54a", lambda: [listing("B-5.2")], "results-on-volume", ((*LAUNCHER, *FIRST, "command"),)),
    Fault(
        "E-54b",
        lambda: [listing("B-5.2")],
        "known-fields",
        ((*WORKER, *FIRST, "resources", "limits", "nvidia.com/gpu:8"),),
    ),
)


def _found(fault: Fault) -> Iterator[Finding]:
    found = [each for manifest in fault.printed() for each in objects(manifest)]
    checker = Checker(configuration=Configuration(fault.configuration))
    return checker.check(found, Inventory(found, complete=True))


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_printed_faults_are_found(fault: Fault) -> None:
    """The checker finds each fault of the objects that the source documents print, where it is."""
    mine = [finding.path for finding in _found(fault) if finding.rule == fault.rule]
    for place in fault.places:
        assert any(path[: len(place)] == place for path in mine), f"{show(place)}: only {[show(path) for path in mine]}"
