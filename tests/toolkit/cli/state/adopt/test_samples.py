"""Objects as a console's samples make them can be adopted as they are, of each kind that a stack declares once."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.support.recorded import environment
from toolkit.cli.state.adopt import candidates, declared
from toolkit.cli.state.adopt.candidates import State
from toolkit.cli.state.adopt.declared import Declared

SAMPLES: list[tuple[str, str, dict[str, Any]]] = [
    (
        "prod",
        "ClusterPolicy",
        {
            "operator": {"defaultRuntime": "crio", "use_ocp_driver_toolkit": True, "initContainer": {}},
            "driver": {"enabled": True, "kernelModuleType": "auto", "licensingConfig": {"nlsEnabled": True}},
            "devicePlugin": {"enabled": True, "config": {"name": "", "default": ""}},
            "mig": {"strategy": "single"},
            "validator": {"plugin": {"env": []}},
            "sandboxWorkloads": {"enabled": False, "defaultWorkload": "container"},
        },
    ),
    (
        "prod",
        "NicClusterPolicy",
        {
            "ofedDriver": {
                "image": "doca-driver",
                "repository": "nvcr.io/nvidia/mellanox",
                "version": "25.10",
                "startupProbe": {"initialDelaySeconds": 10, "periodSeconds": 20},
                "upgradePolicy": {"autoUpgrade": True, "maxParallelUpgrades": 1, "drain": {"enable": True}},
            },
            "rdmaSharedDevicePlugin": {"image": "k8s-rdma-shared-dev-plugin", "config": '{"configList": []}'},
        },
    ),
    (
        "prod",
        "NodeFeatureDiscovery",
        {
            "instance": "",
            "operand": {"imagePullPolicy": "IfNotPresent", "servicePort": 12000},
            "topologyUpdater": False,
            "workerConfig": {"configData": "core:\n  sleepInterval: 60s\n"},
        },
    ),
    ("prod", "Kueue", {"managementState": "Managed", "config": {"integrations": {"frameworks": ["BatchJob"]}}}),
    ("nvaie-roce", "NMState", {}),
    (
        "dev",
        "CSIScaleOperator",
        {
            "clusters": [{"id": "1", "secrets": "secret1", "secureSslMode": False, "primary": {"primaryFs": "fs1"}}],
            "attacherNodeSelector": [{"key": "scale", "value": "true"}],
            "imagePullSecrets": ["registry"],
        },
    ),
    ("dev", "SpecialResource", {"namespace": "nvidia", "nodeSelector": {"feature": "present"}}),
    (
        "prod",
        "Subscription",
        {"name": "nfd", "channel": "stable", "source": "redhat-operators", "sourceNamespace": "openshift-marketplace"},
    ),
    ("prod", "OperatorGroup", {"targetNamespaces": ["openshift-nfd"], "upgradeStrategy": "Default"}),
]


def owned(value: Any) -> dict[str, Any]:
    """Return the fields of a value as the server notes them for their owner."""
    return {f"f:{key}": owned(item) for key, item in value.items()} if isinstance(value, Mapping) else {}


def created(one: Declared, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object that a user has created from a sample."""
    metadata: dict[str, Any] = {"name": one.name, **({"namespace": one.namespace} if one.namespace else {})}
    entry = {"manager": "kubectl-create", "operation": "Update", "fieldsV1": {"f:spec": owned(spec)}}
    metadata["managedFields"] = [entry]
    return {"apiVersion": one.api_version, "kind": one.kind, "metadata": metadata, "spec": spec}


def of_kind(stack: str, kind: str) -> Iterator[Declared]:
    """Yield the objects of a kind that a stack declares."""
    return (each for each in declared.of(environment(stack)).objects if each.kind == kind)


@pytest.mark.parametrize(("stack", "kind", "spec"), SAMPLES, ids=[kind for _, kind, _ in SAMPLES])
def test_a_sample_is_adopted_as_it_is(stack: str, kind: str, spec: dict[str, Any]) -> None:
    """An object of a sample is adoptable, the next update changes nothing in it, and no null is declared."""
    one = next(of_kind(stack, kind))
    found = candidates.judged(one, created(one, spec), lambda body: body)
    assert found.state in (State.EQUAL, State.DIFFERS)
    assert found.changes == ()
    assert found.desired.get("spec", {}) == spec
    assert not [*nulls(found.desired)]


def nulls(value: Any) -> Iterator[Any]:
    """Yield the nulls in a value: no definition takes one where an object or a list is expected."""
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for part in parts:
        yield from [part] if part is None else nulls(part)
