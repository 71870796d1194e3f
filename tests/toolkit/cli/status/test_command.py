"""Which objects of a cluster are the stack's, and their tables on a narrow terminal."""

import io
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from core.apis import kinds
from tests.support.messages import has
from toolkit.cli import sim
from toolkit.cli.shared import console
from toolkit.cli.shared.preflight.constraints import Constraint
from toolkit.cli.shared.simulated.cluster import dead
from toolkit.cli.shared.stack import read
from toolkit.cli.status import command
from toolkit.cli.status.command import show_overview
from toolkit.cli.status.jobs import Job
from toolkit.cli.status.overview import Node, Overview, Queue, Tenant
from toolkit.cli.status.platform_parts import Part
from toolkit.cli.status.stuck import Stuck
from toolkit.simulator.cluster import ClusterStatus
from toolkit.simulator.status import ProcessStatus

_RAILS = {f"shared_ib{number}": 100 for number in range(4)}
FOUND = Overview(
    parts=(
        Part("SecurityContextConstraints", "scc-for-mpi", "present", good=True),
        Part("Subscription", "ibm-spectrum-scale-csi-driver/" + "operator" * 4, "operator.v2.0.0", good=True),
    ),
    tenants=(Tenant("adas", "1075480000/10000", "adas-data-pvc Bound", "0 of 16"),),
    jobs=(Job("MPIJob", "adas", "nccl-test-01x08", "Created", ("dgx01",), 2.0, ("exceeded quota: [gpus]",)),),
    nodes=(Node("dgx01.ocp4.scale.ibm.com", "worker", ready=True, gpus=8, rdma=_RAILS, slices={}),),
    queues=(),
    constraints=(Constraint("ResourceQuota", "adas/team-quota", "requests.nvidia.com/gpu 8 of 16, pods 0 of 50"),),
)


def quota(path: str) -> dict[str, Any]:
    """Return a ResourceQuota by NAMESPACE/NAME."""
    namespace, name = path.split("/")
    return {"metadata": {"namespace": namespace, "name": name}}


def test_adopted_objects_are_the_stacks() -> None:
    """An adopted object has no label of the stack, and counts beside those that have it; one that is gone does not."""
    labelled = [quota("audio/gpus"), quota("vision/gpus")]
    cluster: Any = SimpleNamespace(
        list=lambda _, labelSelector: labelled if labelSelector else [],
        read=lambda _, namespace, name: quota(f"{namespace}/{name}") if namespace == "bio" else None,
    )
    adopted = ["ResourceQuota/bio/team", "ResourceQuota/gone/team", "ResourceQuota/audio/gpus", "Namespace/bio"]
    own = command._own(cluster, adopted, kinds.RESOURCE_QUOTA)
    assert own == [*labelled, quota("bio/team")]


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Give what is printed on a terminal of 80 columns."""
    written = io.StringIO()
    monkeypatch.setattr(console, "console", console.new_console(file=written, width=80))
    return written


def test_nothing_is_cut_at_80_columns(narrow: io.StringIO) -> None:
    """At 80 columns no cell is cut."""
    show_overview(FOUND)
    text = narrow.getvalue()
    assert "…" not in text
    lines = [line.rstrip() for line in text.splitlines()]
    assert "node                      roles   ready  nvidia.com/gpu  rdma/*" in lines
    assert any(line.startswith("dgx01.ocp4.scale.ibm.com  worker  yes    8 ") for line in lines)
    assert any(line.startswith("SecurityContextConstraints  scc-for-mpi") for line in lines)
    assert any(line.startswith("ResourceQuota  adas/team-quota  requests.nvidia.com/gpu 8 of 16") for line in lines)
    assert all(rail in text for rail in _RAILS)


def _offers(**offered: Any) -> Node:
    return replace(Node("dgx01", "worker", ready=True, gpus=0, rdma={}, slices={}), **offered)


def test_columns_are_of_what_nodes_offer(narrow: io.StringIO) -> None:
    """The table has columns of what nodes offer: none of RDMA devices on Ethernet, and one of GPU slices."""
    show_overview(replace(FOUND, nodes=(_offers(gpus=8),)))
    assert "rdma" not in narrow.getvalue()
    show_overview(replace(FOUND, nodes=(_offers(slices={"mig-1g.5gb": 56}), _offers(rdma=_RAILS))))
    assert "nvidia.com/mig-*" in narrow.getvalue()
    assert "mig-1g.5gb: 56" in narrow.getvalue()


def test_what_nodes_are_to_offer_and_do_not_is_seen(narrow: io.StringIO) -> None:
    """Resources that nodes are to offer have a column also where no node offers them."""
    show_overview(replace(FOUND, nodes=(_offers(),), expected=frozenset({"nvidia.com/gpu", "rdma/*"})))
    assert "node   roles   ready  nvidia.com/gpu  rdma/*" in narrow.getvalue()


def test_pools_are_a_column_where_the_stack_has_some(narrow: io.StringIO) -> None:
    """The table has a column of pools where the stack has pools, also before the nodes have their label."""
    show_overview(replace(FOUND, nodes=(_offers(gpus=8, pool="training"), _offers(pool="cpu"))))
    assert "dgx01  worker  yes    training  8" in narrow.getvalue()
    show_overview(replace(FOUND, nodes=(_offers(gpus=8),), expected=frozenset({"pool"})))
    assert narrow.getvalue().count("ready  pool") == 2


def test_many_equal_nodes_share_a_row(narrow: io.StringIO) -> None:
    """Nodes with the same values share a row, and one that differs has its own."""
    alike = [replace(_offers(gpus=8), name=f"dgx{number:03}") for number in range(1, 141)]
    odd = replace(alike[69], gpus=7)
    job = replace(FOUND.jobs[0], nodes=tuple(node.name for node in alike))
    show_overview(replace(FOUND, nodes=(*alike[:69], odd, *alike[70:]), jobs=(job,)))
    lines = narrow.getvalue().splitlines()
    assert [line.split("  ")[0] for line in lines if line.startswith("dgx")] == [
        "dgx001 to dgx069 (69)",
        "dgx070",
        "dgx071 to dgx140 (70)",
    ]
    assert "124 more" in " ".join(narrow.getvalue().split())


def test_what_is_stuck_is_shown_with_its_end(narrow: io.StringIO) -> None:
    """What is stuck is a line, and what ends it the next one; what ends by itself has none."""
    found = (Stuck("Node dgx02", "not ready", "Taint it."), Stuck("Job adas/train", "evicted 2 times"))
    show_overview(replace(FOUND, stuck=found))
    lines = narrow.getvalue().splitlines()
    assert lines[-3:] == ["stuck Node dgx02: not ready", "  Taint it.", "stuck Job adas/train: evicted 2 times"]


def test_queues_are_shown(narrow: io.StringIO) -> None:
    """Queues are shown with their state, GPUs and waiting jobs."""
    show_overview(replace(FOUND, queues=(Queue("adas", active=False, gpus="8 of 16", waiting="2"),)))
    assert "adas   inactive  8 of 16      2" in narrow.getvalue()


def test_hindrances_are_shown_with_their_job(narrow: io.StringIO) -> None:
    """What hinders a job is shown beside it, brackets included."""
    show_overview(FOUND)
    assert has(narrow.getvalue(), "adas/nccl-test-01x08", "exceeded quota: [gpus]")


def test_brackets_of_other_messages_are_no_colours(narrow: io.StringIO) -> None:
    """Brackets in an operator's message are shown as they are."""
    failed = Part("Subscription", "nfd/nfd", "ResolutionFailed: none of [a b] in [/var]", good=False)
    show_overview(replace(FOUND, parts=(failed,)))
    assert "none of [a b] in [/var]" in " ".join(narrow.getvalue().split())


def test_a_dead_process_is_named() -> None:
    """A dead process of the simulated cluster is named, with the command that starts it."""
    alive, gone = (
        ProcessStatus(name, 1, alive=name == "etcd", rss_bytes=0, peak_rss_bytes=0, port=None, log="")
        for name in ("etcd", "scc-admission")
    )
    found = ClusterStatus("x", "", "partial", None, "", "", (alive, gone), ())
    assert has(dead(found, read("dev", "x")), "scc-admission", "dead", "`./hpc sim up --stack dev --name x`")
    assert dead(ClusterStatus("x", "", "running", None, "", "", (alive,), ()), read("dev", "x")) == ""


def test_processes_have_their_whole_names(narrow: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are shown with their whole names."""
    folder = f"/home/{'long/' * 20}logs"
    names = ("kube-apiserver", "kube-controller-manager")
    processes = tuple(
        ProcessStatus(name, 12345, alive=True, rss_bytes=0, peak_rss_bytes=0, port=None, log=f"{folder}/{name}.log")
        for name in names
    )
    found = ClusterStatus("default", "", "running", "https://127.0.0.1:1", "", "", processes, ())
    monkeypatch.setattr("toolkit.simulator.cluster.status", lambda _: found)
    sim.status(name="default")
    text = narrow.getvalue()
    assert [line.split()[0] for line in text.splitlines()[2:4]] == list(names)
    assert text.count(folder) == 1
