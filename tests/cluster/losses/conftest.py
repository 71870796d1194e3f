"""The cluster that the tests of this folder share, as each of them finds it."""

from collections.abc import Iterator

import pytest

from tests.cluster.losses.site import SPEC, Site
from tests.support.clusters import running
from tests.support.user import User


@pytest.fixture(scope="package")
def started() -> Iterator[Site]:
    """Run the cluster with all controllers, and two tenants with queues."""
    with running(SPEC) as cluster:
        made = Site(User.of(cluster.kubeconfig), cluster.home)
        made.install()
        yield made


@pytest.fixture
def site(started: Site) -> Iterator[Site]:
    """Give the cluster with all machines on and no jobs; mend it afterwards."""
    yield started
    started.mend()
