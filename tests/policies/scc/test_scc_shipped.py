"""The SCCs that OpenShift ships."""

import json
from typing import get_args

import pytest

from policies.scc import USABLE_BY_ALL, Release, default_sccs
from tests.support.published_sccs import published


@pytest.mark.parametrize("release", get_args(Release))
def test_as_published(release: Release) -> None:
    """Shipped SCCs equal OpenShift's manifests."""
    recorded = {scc["metadata"]["name"]: scc for scc in published(release)}
    ours = {scc["metadata"]["name"]: scc for scc in default_sccs(release)}
    assert ours.keys() == recorded.keys()
    for name, scc in ours.items():
        assert scc == {"users": [], "groups": [], **recorded[name]}, name


@pytest.mark.parametrize("release", get_args(Release))
def test_everybody_may_use_one(release: Release) -> None:
    """An ordinary pod is admitted with the shipped SCCs."""
    usable = USABLE_BY_ALL[release]
    names = {scc["metadata"]["name"] for scc in default_sccs(release)}
    assert usable <= names
    assert usable or any("system:authenticated" in scc["groups"] for scc in default_sccs(release))


def test_fresh_copies() -> None:
    """A caller gets a copy of the shipped SCCs."""
    first = default_sccs("current")
    for scc in first:
        scc["volumes"].append("spoiled")
        scc["fsGroup"]["type"] = "spoiled"
    assert "spoiled" not in json.dumps(default_sccs("current"))
