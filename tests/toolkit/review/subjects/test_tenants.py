"""Tenants, from rendered stacks."""

from copy import deepcopy
from typing import Any

from tests.support.messages import like
from tests.support.reviews import nothing, reported, reviewed
from toolkit.review.subjects import tenants


def vision(settings: dict[str, Any]) -> None:
    """Add a tenant, with GPUs of another one."""
    new = deepcopy(settings["tenants"][1])
    new.update(namespace="vision", mcs="s0:c28,c12", run_as_uid=1075511000, run_as_gid=1075511000)
    new["uid_range"] = {"start": 1075510000}
    new["volumes"][0].update(volume="vision-pv", claim="vision-pvc", path="/mnt/ess3000/vision", labels={})
    settings["tenants"].append(new)
    settings["tenants"][0]["gpu_quota"] = 8


def without(settings: dict[str, Any]) -> None:
    """Take it away again."""
    settings["tenants"].pop()
    settings["tenants"][0]["gpu_quota"] = 16


def other_ids(settings: dict[str, Any]) -> None:
    """Give a tenant other user ids."""
    tenant = settings["tenants"][2]
    tenant.update(uid_range={"start": 1075520000}, run_as_uid=1075521000, run_as_gid=1075521000)


def test_a_tenant_that_comes_and_one_that_goes() -> None:
    """A tenant is one line, not its objects."""
    assert reported(tenants.find, reviewed(vision)) == [
        like("adas changes ... GPUs: 8 (was 16)"),
        "vision is new",
        like("  user ids: 1075510000 ... 10,000"),
        "  SELinux level: s0:c28,c12",
        "  GPUs at most: 32",
        "  guaranteed GPUs: 8",
        "  queue: jobs",
        "  data: vision-pvc, 100Gi",
        "  default resources of containers: cpu 500m, memory 1Gi",
        "  reachable from: itself and openshift-monitoring",
    ]
    gone = reported(tenants.find, reviewed(without, before=vision))
    assert gone[0] == "! vision goes"


def test_a_tenant_that_changes() -> None:
    """Other user ids of a tenant are reported."""
    found = reported(tenants.find, reviewed(other_ids))
    assert found == [like("! simulation changes ... 1075520000 ... 10,000 ... was 1075500000 ... 10,000")]
    assert reported(tenants.find, reviewed(nothing)) == []
