"""Remedies of single findings, where that of the rule would be the wrong advice."""

from typing import Any

import pytest

from policies.check import Checker
from policies.manifests.inventory import Inventory
from policies.manifests.objects import objects
from tests.policies.conftest import rule_named

Tree = dict[str, Any]


def _pod(name: str = "x", **container: Any) -> Tree:
    containers = [{"name": "c", **container}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers}}


REMEDIES: tuple[tuple[str, Tree, str], ...] = (
    ("valid-names", _pod(name="A_b"), "lowercase letters, digits, - and ."),
    ("nccl-environment", _pod(env=[{"name": "NCCL_DEBUG", "value": "TRACE"}]), "Set NCCL_DEBUG to INFO"),
    (
        "baseline-capabilities",
        _pod(securityContext={"capabilities": {"add": ["SYS_TIME"]}}),
        "parameter infrastructure of this rule or write an exception into policies/exceptions.yaml",
    ),
    (
        "image-registry",
        _pod(image="quay.example.com/team/train:1"),
        "Write a known registry, or add quay.example.com to the parameter `more` of image-registry",
    ),
    ("image-registry", _pod(image="nvcv.io/nvidia/cuda:1"), "Write nvcr.io, or add nvcv.io to the parameter `more`"),
    ("known-fields", _pod(stdin="true"), "Write true or false, without quotes"),
    ("known-fields", _pod(image=7), "Write a text"),
    ("known-fields", _pod(command="sleep 1"), "Write a list"),
    ("known-fields", _pod(imagePullPolicy="allways"), "Write Always"),
    ("known-fields", _pod(resources={"limits": {"memory": "1GB"}}), "Write 1Gi"),
    ("known-fields", _pod(imagepullpolicy="Always"), "Correct the name"),
    ("known-fields", {"apiVersion": "v1", "kind": "pod"}, "Write kind: Pod"),
    ("rdma-ipc-lock", _pod(securityContext={"capabilities": {"add": ["IPC_LOCK"]}}), "Delete IPC_LOCK"),
)


@pytest.mark.parametrize(("rule", "manifest", "remedy"), REMEDIES, ids=[f"{row[0]}-{row[2][:20]}" for row in REMEDIES])
def test_remedy_fits_the_finding(rule: str, manifest: Tree, remedy: str) -> None:
    """A finding for which its rule's remedy does not fit has one of its own."""
    found = list(objects(manifest))
    (finding,) = Checker([rule_named(rule)]).check(found, Inventory(found, complete=True))
    assert remedy in finding.remedy, finding.remedy
    assert not finding.remedy.endswith(".")
