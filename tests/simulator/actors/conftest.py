"""A cluster of its own for the tests of the actors: they break its platform and mend it."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from apis import kinds
from simulator.actors.api import Api, ApiError, Object, Server
from simulator.cluster import Cluster, ClusterSpec
from tests.simulator.actors import platform
from tests.support.clusters import LAB_NODES, running

SPEC = ClusterSpec(name="test-actors", nodes=LAB_NODES, run_seconds=0.5)
T = TypeVar("T")


class Person(Api):
    """The user's access, with patience."""

    @classmethod
    def of(cls, kubeconfig: Path) -> "Person":
        """Return the administrator of a cluster."""
        server = Server(kubeconfig)
        token = server.token
        return cls(server, lambda: token, "tests")

    def eventually(self, look: Callable[[], T], *, seconds: float = 300) -> T:
        """Return what `look` gives once it is true; fail when it is not within `seconds`."""
        until = time.monotonic() + seconds
        last: object = None
        while time.monotonic() < until:
            try:
                if last := look():
                    return last
            except ApiError as error:
                if not error.missing:
                    raise
                last = error
            time.sleep(0.05)
        raise AssertionError(f"did not come true within {seconds} s; last seen: {last}")

    def never(self, look: Callable[[], object], *, seconds: float = 1.5) -> None:
        """Fail when `look` becomes true within `seconds`."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            assert not look()
            time.sleep(0.1)

    def offers(self, node: str, name: str) -> int:
        """Return how much of a resource a node has for pods."""
        return int(self.get(kinds.NODE, node)["status"]["allocatable"].get(name, "0"))

    def pods(self, namespace: str, selector: str = "") -> list[Object]:
        """Return pods by label."""
        found: list[Object] = self.list(kinds.POD, namespace, selector)["items"]
        return found

    def condition(self, kind: kinds.Kind, name: str, namespace: str, *wanted: str) -> str | None:
        """Return which of the conditions is True."""
        status = self.get(kind, name, namespace).get("status") or {}
        there = {one["type"] for one in status.get("conditions") or [] if one["status"] == "True"}
        return next((one for one in wanted if one in there), None)


@pytest.fixture(scope="session")
def simulated() -> Iterator[Cluster]:
    """Run the cluster."""
    with running(SPEC) as started:
        yield started


@pytest.fixture(scope="session")
def user(simulated: Cluster) -> Person:
    """Give access as the user."""
    return Person.of(simulated.kubeconfig)


@pytest.fixture(scope="session")
def ready(user: Person) -> Person:
    """Install the whole platform, and return the access once both DGX-1 offer everything."""
    parts = [
        *platform.subscribed("nfd", platform.NFD, channel="4.4", source="redhat-operators"),
        *platform.subscribed("special-resource-operator", platform.SRO, channel="4.4", source="redhat-operators"),
        *platform.subscribed(
            "ibm-spectrum-scale-csi-operator", platform.CSI, channel="stable", source="certified-operators"
        ),
        *platform.mpi_operator(),
        *platform.storage(),
        *platform.rdma("shared_ib0", "shared_ib1"),
        *[(kinds.SECRET, platform.secret(name)) for name in platform.SECRETS],
    ]
    for kind, body in parts:
        user.apply(kind, body)
    for node in platform.DGX:
        user.patch(kinds.NODE, node, {"metadata": {"labels": {"scale": "true"}}})
    resources = [
        (kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1, "nfd-master-server", platform.NFD, {"namespace": platform.NFD}),
        (kinds.SPECIAL_RESOURCE_V1ALPHA1, "nvidia-gpu", platform.SRO, {}),
    ]
    made = [(kind, platform.obj(kind, name, namespace, spec=spec)) for kind, name, namespace, spec in resources]
    for kind, body in (*made, (kinds.CSI_SCALE_OPERATOR, platform.scale())):
        user.eventually(partial(user.apply, kind, body))
    wanted = {"nvidia.com/gpu": 8, "rdma/shared_ib0": 100, "rdma/shared_ib1": 100}
    for node in platform.DGX:
        for name, number in wanted.items():
            user.eventually(lambda n=node, r=name, w=number: user.offers(n, r) == w)  # type: ignore[misc]
    csi = platform.CSI
    user.eventually(lambda: user.condition(kinds.CSI_SCALE_OPERATOR, "ibm-spectrum-scale-csi", csi, "Success"))
    return user
