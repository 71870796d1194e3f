"""Partitions of Slurm that contradict the machines, each refused with one message: path, value and remedy."""

from typing import Any

import pytest

from tests.support.stack_settings import data, expect_message, message


@pytest.mark.parametrize(
    ("partition", "expected"),
    [
        ({"max_nodes": 141}, "site.scheduler.partitions: batch: max_nodes 141 exceeds its 140 nodes; lower it to 140"),
        ({"hosts": ["dgx[001-020]"], "max_nodes": 21}, "max_nodes 21 exceeds its 20 nodes"),
        ({"hosts": ["dgx[130-141]"]}, "no GPU node is called dgx141; correct it to dgx14"),
        ({"hosts": ["dgx[5-3]"]}, "site.scheduler.partitions: batch: hosts dgx[5-3]: the range 5-3 ends before"),
        ({"hosts": ["dgx001", "dgx[001-002]"]}, "dgx001 is given twice; leave one out"),
    ],
)
def test_partitions_that_cannot_be(partition: dict[str, Any], expected: str) -> None:
    """Unknown nodes, nodes that are given twice and more nodes than there are end in one message."""
    content = data("superpod-a100")
    scheduler = {"controller": "login01", "partitions": [{"name": "batch", **partition}]}
    content["site"] = {"scheduler": scheduler}
    text = message(content)
    assert len(text.strip().splitlines()) == 2, text
    expect_message(text, expected)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"images": {"tensorflw": "registry.example.com/a:1"}},
            "scheduler.images: no build is called tensorflw; use one",
        ),
        ({"controller": "dgx001"}, "site.scheduler.controller: dgx001 is a GPU node, … name another host"),
        ({"controller": "master_01"}, "site.scheduler.controller: … is not a name … (value: 'master_01'); write e.g."),
        ({"volumes": {"dta": "/lustre"}}, "site.scheduler.volumes: no volume is called dta; use one of data"),
    ],
)
def test_names_that_cannot_be(fields: dict[str, Any], expected: str) -> None:
    """An unknown build, an unknown volume, and a controller that is a GPU node or no host name are refused."""
    content = data("superpod-a100")
    scheduler = {"controller": "login01", "partitions": [{"name": "batch"}], **fields}
    content["site"] = {"scheduler": scheduler}
    text = message(content)
    assert len(text.strip().splitlines()) == 2, text
    expect_message(text, expected)
