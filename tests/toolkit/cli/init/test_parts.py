"""The small parts: names of nodes, tenants, jobs, comments, and the choice of an example."""

from typing import Any

import pytest
import yaml

from core.apis.names import SCC_MCS, SCC_UID_RANGE
from stacks.loading import settings
from stacks.releases import RELEASES
from stacks.settings.cluster import entries
from tests.support.messages import has
from tests.toolkit.cli.init.kit import api, cluster, dgx, node, obj, subscription
from toolkit.cli.init import examples, facts, file_text, reading, tenants, workloads
from toolkit.cli.init.composition import compose
from toolkit.cli.init.facts import Connection
from toolkit.cli.init.machines import grouped
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["dgx02.lab", "dgx01.lab", "dgx03.lab"], ["dgx[01-03].lab"]),
        (["w-8", "w-9", "w-10", "w-11"], ["w-[8-11]"]),
        (["w-08", "w-9"], ["w-08", "w-9"]),
        (["a1", "a3", "b1"], ["a1", "a3", "b1"]),
        (["ip-10-0-1-7.ec2", "ip-10-0-1-8.ec2", "ip-10-0-2-8.ec2"], ["ip-10-0-1-[7-8].ec2", "ip-10-0-2-8.ec2"]),
        (["node", "n1.x2"], ["n1.x2", "node"]),
        (["9", "10"], ["[9-10]"]),
    ],
)
def test_names_that_follow_each_other_are_a_range(names: list[str], short: list[str]) -> None:
    """A range means the same nodes when settings are read."""
    assert workloads.short(names) == short
    assert len(entries([{"name": name} for name in short])) == len(names)


def tenant(**changed: Any) -> dict[str, Any]:
    """Return a tenant of an example."""
    return {
        "namespace": "training",
        "uid_range": {"start": 1075480000},
        "mcs": "s0:c27,c2",
        "run_as_uid": 1075481000,
        "run_as_gid": 1075481000,
        "gpu_quota": 32,
        **changed,
    }


def test_ids_and_levels_are_unused() -> None:
    """A used block of ids is skipped, the data's owner has its place in a block, and tenants get different ones."""
    taken = [
        obj(
            "a",
            annotations={"openshift.io/sa.scc.uid-range": "1075480000/10000", "openshift.io/sa.scc.mcs": "s0:c27,c2"},
        ),
        obj("b", annotations={"openshift.io/sa.scc.uid-range": "1075495000/10000"}),
        obj("c", annotations={"openshift.io/sa.scc.uid-range": "nonsense"}),
    ]
    settings = {"tenants": [tenant(), tenant(namespace="b2")]}
    assert list(tenants.fit(settings, reading.read(api(cluster(NAMESPACE=taken))), 8, "site")) == []
    one, other = settings["tenants"]
    assert (one["uid_range"]["start"], one["run_as_uid"], one["mcs"]) == (1075510000, 1075511000, "s0:c27,c3")
    assert (other["uid_range"]["start"], other["mcs"], other["gpu_quota"]) == (1075520000, "s0:c27,c4", 4)


def test_an_existing_namespace_is_reported_and_keeps_its_ids() -> None:
    """A tenant's namespace that exists is reported; if it is imported, it has the ids of OpenShift."""
    own = {SCC_UID_RANGE: "1000650000/5000", SCC_MCS: "s0:c25,c20"}
    found = reading.read(api(cluster(NAMESPACE=[obj("training", annotations=own)])))
    settings = {"tenants": [tenant()]}
    (said,) = tenants.fit(settings, found, 0, "site")
    (made,) = settings["tenants"]
    assert (made["uid_range"], made["mcs"]) == ({"start": 1000650000, "size": 5000}, "s0:c25,c20")
    assert (made["run_as_uid"], made["run_as_gid"]) == (1000651000, 1000651000)
    assert (said.place, said.text.partition(":")[0]) == ("tenants[0]", "the cluster has a namespace training already")


def test_storage_that_is_there_stays() -> None:
    """The example's class is used where the cluster has it; a class that the stack creates needs no decision."""
    data = {"name": "data", "kind": "claim", "claim": "data", "storage_class": "block", "capacity": "1Ti"}
    settings: dict[str, Any] = {"tenants": [tenant(volumes=[data])], "storage": {"classes": []}}
    found = reading.read(api(cluster()))
    (said,) = tenants.fit(settings, found, 0, "site")
    assert (data["storage_class"], said.text.rpartition("has ")[2]) == ("block", "block, files")
    settings["storage"]["classes"] = [{"class_name": "block"}]
    assert list(tenants.fit(settings, found, 0, "site")) == []


JOBS: list[dict[str, Any]] = [
    {"kind": "rdma-test", "client_node": "x1", "server_node": "x2", "hca": "mlx5_1"},
    {"kind": "mpi", "name": "nccl", "layout": {"pods": 4, "gpus": 8, "nodes": 4}},
    {"kind": "mpi", "name": "nccl", "layout": {"pods": 2, "gpus": 8, "nodes": 2}},
]


def test_jobs_are_made_to_fit() -> None:
    """Jobs use the cluster's nodes and ports, with as many pods as fit; jobs that become equal are one."""
    stages = [{"name": "all", "workloads": JOBS}]
    found, said = workloads.fit(stages, {None: workloads.Room(["x1", "x2"], ["a", "b"], 8, ["mlx5_0"])})
    assert found[0]["workloads"] == [
        {"kind": "rdma-test", "client_node": "a", "server_node": "b", "hca": "mlx5_0"},
        {"kind": "mpi", "name": "nccl", "layout": {"pods": 2, "gpus": 8, "nodes": 2}},
    ]
    assert said == []


def test_jobs_without_room_are_left_out_and_reported() -> None:
    """A test between two nodes is left out, with a message, where there is one node."""
    rooms: dict[str | None, workloads.Room] = {None: workloads.Room(["x1", "x2"], ["a"], 8, [])}
    found, (said,) = workloads.fit([{"name": "rdma", "workloads": JOBS[:1]}], rooms)
    assert (found, said.text) == ([], "left out, as 1 GPU nodes have no room for it: rdma-test")


def test_comments_are_above_their_places() -> None:
    """In lists, maps and flow, folded at the width; what is not there is at the nearest part above."""
    body = "a:\n  - name: x\n    b: {c: 1}\nd: 2\n"
    places = [(("a", 0, "b", "c"), "one " * 40, ["verbatim: 1"]), (("d", "e"), "two", []), (("z",), "three", [])]
    found = file_text.commented(body, places)
    lines = found.splitlines()
    assert lines[0] == "# three"
    assert lines[3].startswith("    # one one")
    assert lines[lines.index("    b: {c: 1}") - 1] == "    # verbatim: 1"
    assert lines[-2:] == ["# two", "d: 2"]
    assert max(map(len, lines)) <= 120
    assert yaml.safe_load(found) == yaml.safe_load(body)


def test_what_is_not_printable_is_no_line_of_the_file() -> None:
    """A label with a line end cannot put a key into the settings."""
    found = file_text.commented("a: 1\n", [(("a",), "label x\nb: 2", [])])
    assert yaml.safe_load(found) == {"a": 1}


@pytest.mark.parametrize(
    ("nodes", "release", "example"),
    [
        ([dgx("n")], "4.20", "h100-roce"),
        ([dgx("n", product="NVIDIA-A100-SXM4-40GB", machine="", cpus=256, gib=1006)], "4.20", "nvaie-roce"),
        ([node("n", cpus=80, gib=503)], "4.4", "redpaper-4.4"),
    ],
)
def test_the_nearest_example_is_taken(nodes: list[Any], release: str, example: str) -> None:
    """Machine, GPU, ports, release and RDMA count; the API generations must be those of the release."""
    found = examples.chosen(grouped(map(facts.node, nodes)), RELEASES[release], ROOT)
    assert found.name == example
    assert found.settings.version.mpi_job == RELEASES[release].mpi_job


def test_a_release_without_an_example_needs_one_named(tmp_path: Any) -> None:
    """A release without an example is refused with the option that names one."""
    (tmp_path / "stacks" / "examples").mkdir(parents=True)
    with pytest.raises(Problem, match=r"no example .* is for the APIs of OpenShift 4.22\nName .*--template"):
        examples.chosen([], RELEASES["4.22"], tmp_path)


def decisions(example: str = "h100-roce", **changed: Any) -> dict[str, str]:
    """Return what is to be decided on a cluster, by its place."""
    found = reading.read(api(cluster(**changed)))
    reached = Connection("kubeconfig", "site")
    made = compose("site", found, reached, grouped(found.nodes), examples.read(example, ROOT))
    return {one.place: one.text for one in made.decisions if one.mark == "DECIDE"}


def deployment(namespace: str, name: str, image: str) -> dict[str, Any]:
    """Return a Deployment."""
    return obj(name, namespace, spec={"template": {"spec": {"containers": [{"image": image}]}}})


def test_two_mpi_operators_are_prevented() -> None:
    """Another running MPI operator is named with what removes it; the stack's own is imported."""
    there = deployment("kubeflow", "training-operator", "registry:5000/kubeflow/training-operator:v1@sha256:ab")
    decision = decisions(DEPLOYMENT=[there])["mpi_operator"]
    assert has(decision, "kubeflow/training-operator", "`oc delete deployment -n kubeflow training-operator`")
    mine = deployment("mpi-operator", "mpi-operator", "mpioperator/mpi-operator:0.8.2")
    assert "mpi_operator" not in decisions(DEPLOYMENT=[mine])
    assert "mpi_operator" not in decisions(DEPLOYMENT=[deployment("a", "b", "nginx")])


def test_what_shares_the_ports_is_reported() -> None:
    """An SR-IOV operator is reported: it divides ports that the shared device plugin would offer."""
    there = subscription("sriov-network-operator", "openshift-sriov-network-operator", "stable")
    assert decisions(SUBSCRIPTION=[there])["fabric"].startswith("the SR-IOV operator is installed in openshift-sriov")


def test_a_missing_scc_is_reported() -> None:
    """A missing SCC is reported, as the tenants' SCC is made from the release's."""
    said = decisions(SECURITY_CONTEXT_CONSTRAINTS=[obj("anyuid")])["tenants"]
    assert said.startswith("the cluster has no SCC restricted-v2, which OpenShift 4.20 comes with")


def test_adapters_of_another_kind_are_reported() -> None:
    """Labels of Ethernet adapters are reported where the example is for InfiniBand."""
    assert (
        decisions("superpod-a100")["fabric.kind"]
        == "labels of the nodes name Ethernet adapters, and this is for InfiniBand"
    )
    assert "fabric.kind" not in decisions()


def test_an_ethernet_fabric_takes_the_clusters_packets() -> None:
    """pod_mtu of an Ethernet fabric is the MTU of the cluster's pod network."""
    found = reading.read(api(cluster()))
    example = examples.read("robotic-drive-ethernet", ROOT)
    made = compose("site", found, Connection("kubeconfig", "site"), grouped(found.nodes), example)
    assert made.settings["fabric"]["pod_mtu"] == 8900


WHOLE = [each.name for each in (examples.read(name, ROOT) for name in examples.names(ROOT)) if examples.whole(each)]


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_given_for_an_example_means_the_same(name: str) -> None:
    """Whatever an example's file is made of, what is taken from it gives the same settings."""
    example = examples.read(name, ROOT)
    assert settings.parse(example.effective, name, name) == example.settings
