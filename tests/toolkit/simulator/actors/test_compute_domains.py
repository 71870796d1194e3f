"""ComputeDomains: the daemons' part in a clique, and what the real controller is started with."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.apis import kinds
from core.apis.names import COMPUTE_DOMAIN, COMPUTE_DOMAIN_CLIQUE
from tests.support.stored_objects import StoredObjects
from toolkit.simulator import names
from toolkit.simulator.actors.compute_domains import FILES, ComputeDomainController, ComputeDomainDaemon, with_daemon
from toolkit.simulator.actors.podactor import EVERY

CLIQUE = "11111111-2222-3333-4444-555555555555.32766"
IMAGE = "nvcr.io/nvidia/dra-driver-nvidia-gpu:v0.5.0"


def pod(node: str, **variables: str) -> dict[str, Any]:
    """Return a daemon's pod."""
    env = [{"name": name, "value": value} for name, value in variables.items()]
    return {
        "metadata": {"name": f"on-{node}", "namespace": "dra", "uid": node, "labels": {COMPUTE_DOMAIN: "d"}},
        "spec": {"nodeName": node, "containers": [{"name": "c", "image": IMAGE, "env": env}]},
        "status": {"podIP": "10.1.2.3"},
    }


def empty() -> dict[str, Any]:
    """Return a clique without daemons."""
    return {"metadata": {"name": f"d.{CLIQUE}"}}


def test_daemons_take_the_lowest_free_index() -> None:
    """An index is a daemon's name in DNS: those that are there keep theirs, and gaps are filled."""
    clique = empty()
    for node in ("a", "b", "c"):
        clique = with_daemon(clique, pod(node), CLIQUE, 18)
    clique["daemons"] = [daemon for daemon in clique["daemons"] if daemon["nodeName"] != "b"]
    clique = with_daemon(with_daemon(clique, pod("d"), CLIQUE, 18), pod("a"), CLIQUE, 18)
    assert {daemon["nodeName"]: daemon["index"] for daemon in clique["daemons"]} == {"a": 0, "c": 2, "d": 1}
    assert [owner["uid"] for owner in clique["metadata"]["ownerReferences"]] == ["a", "b", "c", "d"]


def test_a_clique_has_no_place_beyond_the_rack() -> None:
    """More nodes than an IMEX domain can have are refused in the daemon's words."""
    with pytest.raises(IndexError, match=r"no available indices within maxNodesPerIMEXDomain \(1\)"):
        with_daemon(with_daemon(empty(), pod("a"), CLIQUE, 1), pod("b"), CLIQUE, 1)


@pytest.mark.parametrize("annotations", [{names.NVLINK_CLIQUE: CLIQUE}, {}])
def test_a_daemon_joins_the_clique_of_its_node(annotations: dict[str, str]) -> None:
    """Its pod says which; on a node without NVLink to others it says so, and there is no clique."""
    daemon = pod("a")
    api = StoredObjects()
    api.of_kind[kinds.POD.plural] = {("on-a", "dra"): daemon}
    node = {"metadata": {"name": "a", "annotations": annotations}}
    runtime: Any = SimpleNamespace(account=lambda _: api, nodes=SimpleNamespace(get=lambda _: node))
    logs: Any = SimpleNamespace(append=lambda *_: None)
    ComputeDomainDaemon(runtime, logs, daemon)._join(EVERY)
    labels = api.get(kinds.POD, "on-a", "dra")["metadata"]["labels"]
    assert labels[COMPUTE_DOMAIN_CLIQUE] == annotations.get(names.NVLINK_CLIQUE, "")
    cliques = api.list(kinds.COMPUTE_DOMAIN_CLIQUE)["items"]
    assert [clique["daemons"][0]["status"] for clique in cliques] == (["Ready"] if annotations else [])


def test_the_real_controller_listens_nowhere(tmp_path: Path) -> None:
    """It gets its container's variables but those of its servers, and its templates beside it."""
    templates = tmp_path / "files"
    templates.mkdir()
    for name in ("compute-domain-daemon.tmpl.yaml", "resource.nvidia.com_computedomains.yaml"):
        (templates / name).write_text(name)
    controller = pod("a", IMAGE_NAME=IMAGE, HTTP_ENDPOINT=":8080", LOG_VERBOSITY="4")
    runtime: Any = SimpleNamespace(
        account=lambda _: None, settings=SimpleNamespace(home=tmp_path, tools={FILES: templates})
    )
    logs: Any = SimpleNamespace(append=lambda *_: None)
    made = ComputeDomainController(runtime, logs, controller)
    made.folder.mkdir(parents=True)
    assert made.command(Path("kubeconfig")) == ["--kubeconfig", Path("kubeconfig"), "-v", "4"]
    assert [file.name for file in made.folder.iterdir()] == ["compute-domain-daemon.tmpl.yaml"]
    assert made.environment == {"IMAGE_NAME": IMAGE, "LOG_VERBOSITY": "4", "POD_NAME": "on-a", "NAMESPACE": "dra"}
