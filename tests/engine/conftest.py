"""Fixtures of the engine tests: one API server for all, one stack and one namespace for each."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.kit import Cluster, Stack, wait_until
from toolkit.simulator import cluster

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def api(bare_api: cluster.Cluster) -> Cluster:
    """Give the API server (etcd, kube-apiserver, controller-manager; no nodes)."""
    return Cluster(bare_api.kubeconfig, bare_api.context)


@pytest.fixture(scope="session")
def empty_stack(tmp_path_factory: pytest.TempPathFactory, api: Cluster) -> Stack:
    """Give the stack that every test's own is a copy of."""
    return Stack(tmp_path_factory.mktemp("empty") / "project", api).start()


@pytest.fixture
def stack(tmp_path: Path, empty_stack: Stack) -> Stack:
    """Give a new stack of programs/objects.py."""
    return empty_stack.copy(tmp_path)


@pytest.fixture
def namespace(api: Cluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """Give a namespace of the test's own (not in any stack); it goes afterwards, without waiting."""
    name = (
        f"engine-{next(_NUMBERS)}-{request.node.originalname.removeprefix('test_').replace('_', '-')[:40].strip('-')}"
    )
    api.core.create_namespace({"metadata": {"name": name}})
    yield name
    api.core.delete_namespace(name)


@pytest.fixture(scope="session")
def widgets(api: Cluster) -> str:
    """Make a custom kind with a status and two versions, and give its group."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"served": True, "schema": schema, "subresources": {"status": {}}}
    group = "kit.example.com"
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "storage": True, **version}, {"name": "v1beta1", "storage": False, **version}],
        },
    }
    api.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)
    wait_until(lambda: api.get(f"/apis/{group}/v1") is not None)
    return group
