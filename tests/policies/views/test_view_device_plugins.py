"""Configurations of the RDMA device plugin that fixtures are too small for."""

import json

from policies.manifests.objects import Obj
from policies.views.device_plugins import Configuration, Entry, configuration


def _read(text: str) -> Configuration:
    tree = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "rdma-devices"},
        "data": {"config.json": text},
    }
    found = configuration(Obj(tree))
    assert found is not None
    return found


def test_deep_documents() -> None:
    """A deeply nested configuration does not raise."""
    assert _read("[" * 200_000).faults == ("is nested too deeply",)


def test_long_documents() -> None:
    """A configuration larger than a ConfigMap is not parsed."""
    assert "is longer than" in _read(" " * 2_000_000).faults[0]


def test_many_faults() -> None:
    """The faults of one configuration are limited in number."""
    faults = _read(json.dumps({"configList": [1] * 100_000})).faults
    assert len(faults) == 51
    assert faults[-1] == "has 99950 more faults"


def test_what_can_be_read_is_offered() -> None:
    """A broken entry does not hide the resources of the others."""
    found = _read(json.dumps({"configList": [{"resourceName": "a", "rdmaHcaMax": "x"}, {"resourceName": "b"}, 1]}))
    assert found.entries == (Entry("rdma/a", None, False), Entry("rdma/b", None, False))
    assert found.faults
