"""Configurations of the RDMA device plugin that fixtures are too small for."""

import json

from policies.objects import Obj
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
    """A document that ends the check by its depth."""
    assert _read("[" * 200_000).faults == ("is nested too deeply",)


def test_long_documents() -> None:
    """A document that no ConfigMap can hold, read for minutes."""
    assert "is longer than" in _read(" " * 2_000_000).faults[0]


def test_many_faults() -> None:
    """A report of 100,000 lines about one object."""
    faults = _read(json.dumps({"configList": [1] * 100_000})).faults
    assert len(faults) == 51
    assert faults[-1] == "has 99950 more faults"


def test_what_can_be_read_is_offered() -> None:
    """One broken entry that hides the resources of all others, so that every pod is refused as well."""
    found = _read(json.dumps({"configList": [{"resourceName": "a", "rdmaHcaMax": "x"}, {"resourceName": "b"}, 1]}))
    assert found.entries == (Entry("rdma/a", None, False), Entry("rdma/b", None, False))
    assert found.faults
