"""The cluster that the tests of this folder share."""

from collections.abc import Iterator

import pytest

from core.apis import kinds, names
from tests.cluster.kueue.site import LEAF, LEAVES, NEAR, NODES, PRIORITY_CLASS, SPEC, Site, operators, queues, tenants
from tests.support import platform
from tests.support.clusters import running
from tests.support.user import User


@pytest.fixture(scope="package")
def site() -> Iterator[Site]:
    """Run the cluster, with GPUs on its nodes, Kueue, and two tenants with their queues."""
    with running(SPEC) as started:
        made = Site(User.of(started.kubeconfig))
        made.declare(operators)
        for name, value in (("low", 100), ("high", 200)):
            made.api.apply(PRIORITY_CLASS, platform.obj(PRIORITY_CLASS, name, value=value))
        made.declare(tenants)
        for node in NODES:
            made.api.patch(kinds.NODE, node, {"metadata": {"labels": {LEAF: LEAVES[node]}}})
        made.declare(queues)
        parts = {"driver": "nvcr.io/nvidia/driver:580", "plugin": "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"}
        for part, image in parts.items():
            for node in NODES:
                spec = {"nodeName": node, "containers": [{"name": part, "image": image}]}
                made.api.apply(kinds.POD, platform.obj(kinds.POD, f"{part}-{node}", "kube-system", spec=spec))
        for node in NODES:
            made.api.eventually(lambda n=node: made.api.offers(n, names.GPU_RESOURCE) == 8)  # type: ignore[misc]
        yield made


@pytest.fixture(scope="package")
def near(site: Site) -> Site:
    """Give the jobs of the tenant whose queue knows the fabric."""
    return Site(site.api, NEAR)
