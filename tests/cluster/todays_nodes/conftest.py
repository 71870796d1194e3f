"""The cluster that the tests of this folder share."""

from collections.abc import Iterator

import pytest

from core.apis import kinds
from tests.cluster.todays_nodes.site import (
    FORMER,
    GUI,
    NODES,
    PLAIN,
    POOL,
    SPEC,
    TODAY,
    Site,
    former_storage,
    nodes,
    operators,
    queues,
    scale_operator,
    storage,
    tenants,
)
from tests.support import platform
from tests.support.clusters import running
from tests.support.user import User


@pytest.fixture(scope="package")
def site() -> Iterator[Site]:
    """Run the cluster, with operators, nodes, tenants and storage in the order of an installation."""
    with running(SPEC) as started:
        made = Site(User.of(started.kubeconfig))
        for node in (*NODES, PLAIN):
            made.api.patch(kinds.NODE, node, {"metadata": {"labels": {"scale": "true"}}})
        made.declare(lambda: scale_operator("stable"))
        made.api.apply(kinds.SECRET, platform.secret(GUI))
        made.installed(FORMER)
        made.declare(former_storage)
        made.former_uid = made.driver()["metadata"]["uid"]
        made.declare(operators)
        made.installed(TODAY)
        for node in NODES:
            marks = {"feature.node.kubernetes.io/pci-15b3.present": "true", f"node-role.kubernetes.io/{POOL}": ""}
            made.api.patch(kinds.NODE, node, {"metadata": {"labels": marks}})
        made.declare(nodes)
        made.declare(tenants)
        made.declare(storage)
        made.declare(queues)
        yield made
