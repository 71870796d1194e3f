"""docs/operations.md, followed from top to bottom on a workstation, with a bucket and a cluster.

The stack takes the cluster for a real one. Two things are put in place of what the page says: the address of the object
store, and a kubectl.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from simulator import cluster
from tests.support import checkouts
from tests.support.buckets import KEYS
from tests.support.clusters import FULL, require_tools
from tests.support.followed import blocks, change, walked
from tests.support.recorded import ROOT

pytestmark = pytest.mark.cluster

PAGE = ROOT / "docs" / "operations.md"
STORE = "https://s3.lab.example.com"
_KUBECTL = """#!{python}
import json, sys
from kubernetes import client, config
words = sys.argv[1:]
value = lambda name: words[words.index(name) + 1]
kind, name = words[words.index("patch") + 1 :][:2]
assert kind == "resourcequota"
config.load_kube_config(value("--kubeconfig"))
patch = client.CoreV1Api().patch_namespaced_resource_quota
patch(name, value("-n"), json.loads(value("-p")), field_manager="kubectl-patch")
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Give a checkout with one commit, as a clone has it."""
    require_tools(FULL)
    root = checkouts.copy(tmp_path)
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "hpc"]):
        subprocess.run(["git", "-c", "user.name=lab", "-c", "user.email=lab@example.com", *words], cwd=root, check=True)
    return root


@pytest.fixture
def workstation(tmp_path: Path, checkout: Path) -> dict[str, str]:
    """Give the environment of a user: a home, credentials of the bucket, and nothing of the developer's."""
    programs = tmp_path / "bin"
    programs.mkdir()
    kubectl = programs / "kubectl"
    kubectl.write_text(_KUBECTL.format(python=sys.executable))
    kubectl.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    cache = os.environ.get("HPC_CACHE") or str(Path.home() / ".cache" / "hpc")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "HPC_", "AWS_", "GIT_"))}
    user = {"GIT_AUTHOR_NAME": "lab", "GIT_AUTHOR_EMAIL": "lab@example.com"}
    return {
        **kept,
        **KEYS,
        **user,
        **{key.replace("AUTHOR", "COMMITTER"): value for key, value in user.items()},
        "PATH": f"{programs}:{kept['PATH']}",
        "HOME": str(home),
        "HPC_CACHE": cache,
        "MAKEFLAGS": "-o .venv/.installed",
        "TMPDIR": str(checkout.parent),
    }


def test_the_page_can_be_followed(checkout: Path, workstation: dict[str, str], object_store: str) -> None:
    """Every block of the runbook runs, in its order."""
    steps = blocks(PAGE)
    assert {block.info.partition(" ")[0] for block in steps} == {"sh", "yaml"}, "a block that nobody runs"
    exports = checkout.parent / "exports"
    exports.touch()
    try:
        for block in steps:
            text = block.text.replace(STORE, object_store)
            if block.info.startswith("yaml "):
                change(checkout / block.info.removeprefix("yaml "), text)
                continue
            walked(f". {exports}\n{text}\nexport -p > {exports}\n", checkout, workstation)
    finally:
        home = checkout / ".sim" / "lab"
        if home.exists():
            cluster.clean(home)
    assert not home.exists()
