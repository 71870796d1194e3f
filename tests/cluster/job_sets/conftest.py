"""The cluster that the tests of this folder share."""

from collections.abc import Iterator

import pytest

from tests.cluster.job_sets.site import SPEC, Site
from tests.support.clusters import running
from tests.support.user import User


@pytest.fixture(scope="package")
def site() -> Iterator[Site]:
    """Run the cluster with all controllers, and a tenant with a queue."""
    with running(SPEC) as started:
        made = Site(User.of(started.kubeconfig))
        made.install()
        yield made
