"""What programs of a pod find: from pods and nodes as they are."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.apis.names import NETWORKS
from core.hardware.profiles import profile, with_hcas
from tests.support.actor_caches import MARKS, PLUGIN, RDMA, node, pod, runtime
from toolkit.simulator import names
from toolkit.simulator.actors import launcher
from toolkit.simulator.actors.job_inputs import launched


@pytest.mark.parametrize(
    ("requested", "given"),
    [
        (RDMA, ("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3")),
        ({"rdma/shared_ib2": 1}, ("mlx5_2",)),
        ({"rdma/none": 1, "rdma/shared_ib0": 1}, ("mlx5_0",)),
        ({"rdma/none": 1}, ()),
        ({}, ()),
    ],
)
def test_devices_are_those_behind_the_resources(requested: dict[str, Any], given: tuple[str, ...]) -> None:
    """A resource that names a device which does not exist is offered, and gives no device."""
    one = pod("p", "a", limits=requested)
    assert launched(one, runtime(PLUGIN, one, nodes=(node("a"),)), 1).me.devices == given
    # Interfaces may have other names now, and then what the plugin knew by the old ones is not there.
    renamed = node("a", **{names.INTERFACES: json.dumps(["rail0", "rail1", "rail2", "rail3"])})
    assert launched(one, runtime(PLUGIN, one, nodes=(renamed,)), 1).me.devices == ()


def test_a_port_without_link() -> None:
    """A port that is down is not used, and a mistake in the annotation raises nothing."""
    one = pod("p", "a", limits=RDMA)
    for said, up in (('["mlx5_2"]', "013"), ("mlx5_2", "0123"), ("[1]", "0123"), ("{}", "0123")):
        me = launched(one, runtime(PLUGIN, one, nodes=(node("a", **{names.PORTS_DOWN: said}),)), 1).me
        assert [hca.name for hca in me.ports] == [f"mlx5_{port}" for port in up]


def test_interfaces_over_ports_have_the_mtu_below_them() -> None:
    """A second network has the MTU of its port, which a policy may have raised, unless it has its own."""
    marks = {names.PORT_MTUS: json.dumps({"ib1": 9216})}
    networks = {
        "ns/rail0": {"type": "macvlan", "master": "ib0"},
        "ns/rail1": {"type": "macvlan", "master": "ib1"},
        "ns/small": {"type": "macvlan", "master": "ib1", "mtu": 4200},
    }
    one = pod("p", "a", annotations={NETWORKS: "rail0,rail1,small,ns/none"})
    me = launched(one, runtime(one, nodes=(node("a", **marks),), networks=networks), 1).me
    assert me.network_mtus == (1500, 9216, 4200, 1500)
    assert [me.machine.mtu(hca) for hca in ("mlx5_0", "mlx5_1")] == [1500, 9216]


def test_an_instance_is_one_device() -> None:
    """Of a MIG instance CUDA sees one device, and others keep their whole GPUs."""
    one = pod("p", "a", limits={"nvidia.com/mig-1g.5gb": "1"})
    other = pod("q", "a", limits={"nvidia.com/gpu": 2})
    there = runtime(one, other, nodes=(node("a"),))
    assert [launched(each, there, 1).me.gpus for each in (one, other)] == [(0,), (0, 1)]


def test_a_launcher_knows_its_workers() -> None:
    """The job has the pods of the hostfile, and every pod GPUs of its own."""
    start = pod("launcher", "b", labels={**MARKS, launcher.ROLE: "launcher"}, command=["mpirun"], args=["-np", "2"])
    inside = {"capabilities": {"add": ["IPC_LOCK"]}, "runAsUser": 7}
    workers = [
        pod(f"w-{i}", "a", limits={"nvidia.com/gpu": 3}, securityContext=inside, env=[{"name": "A", "value": "1"}])
        for i in range(2)
    ]
    driver = pod("driver", "a", "nvidia-driver-container")
    hosts = "w-0 slots=3\nw-1.job.ns.svc slots=5\n"
    job = launched(start, runtime(driver, *workers, nodes=(node("a"), node("b")), hostfile=hosts), 2)
    assert (job.words, job.slots, job.processes) == (("mpirun", "-np", "2"), {"w-0": 3, "w-1": 5}, ())
    assert [worker.gpus for worker in job.workers] == [(0, 1, 2), (3, 4, 5)]
    first = job.workers[0]
    assert (first.ipc_lock, first.uid, first.environment, first.address) == (True, 7, {"A": "1"}, "10.1.2.3")
    assert (first.machine.has_driver, first.machine.driver, job.me.machine.has_driver) == (True, "440.33.01", False)
    assert [machine.name for machine in job.machines] == ["a", "b"]
    assert job.me.mtu == 8900


def test_sshd_passes_on_little() -> None:
    """Ranks have the variables that sshd gives its sessions, not the container's."""
    marks = {launcher.SSH_ROLE: "launcher", launcher.SSH_JOB_NAME: "job"}
    start = pod("launcher", "a", labels=marks)
    server = pod(
        "w-0",
        "a",
        labels={launcher.SSH_ROLE: "worker"},
        env=[{"name": "NCCL_DEBUG", "value": "INFO"}],
        command=["sh", "-c", "sshd NCCL_IB_GID_INDEX=$index"],
    )
    job = launched(start, runtime(server, nodes=(node("a"),), hostfile="w-0.job.ns.svc slots=1"), 2)
    assert job.workers[0].environment == {"NCCL_IB_GID_INDEX": "3"}


def test_peers_are_the_running_pods_of_other_jobs() -> None:
    """A test reaches the listener of its own namespace."""
    listener = pod("l-x", "a", labels={"job-name": "l"}, limits=RDMA)
    other = pod("m-x", "a", labels={"job-name": "m"})
    other["metadata"]["namespace"] = "elsewhere"
    job = launched(pod("p", "a"), runtime(PLUGIN, listener, other, nodes=(node("a"),)), 1)
    assert set(job.peers) == {"l"}
    assert job.peers["l"].devices == ("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3")


def test_a_newer_copy_of_a_pod_is_not_its_peer() -> None:
    """A listener that becomes ready while its work is decided does not measure against itself."""
    listener = pod("l-x", "a", labels={"job-name": "l"})
    assert launched(listener, runtime({**listener}, nodes=(node("a"),)), 1).peers == {}


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_ended_is_a_peer_of_what_started_before(phase: str) -> None:
    """The listener that a test has met may have ended meanwhile, in either way; that of an earlier run was not met."""
    other = pod("l-x", "a", labels={"job-name": "l"})
    other["status"] |= {
        "phase": phase,
        "containerStatuses": [{"state": {"terminated": {"exitCode": 0, "finishedAt": "2026-01-02T03:04:05Z"}}}],
    }
    for second, met in (("04", True), ("05", True), ("06", False)):
        me = pod("p", "a")
        me["status"]["startTime"] = f"2026-01-02T03:04:{second}Z"
        assert ("l" in launched(me, runtime(other, nodes=(node("a"),)), 1).peers) is met, second


@pytest.mark.parametrize(
    ("image", "containers", "reached"),
    [
        ("nvidia-driver-container", ("driver",), True),
        ("driver", ("nvidia-driver-ctr",), False),
        ("driver", ("nvidia-driver-ctr", "nvidia-peermem-ctr"), True),
    ],
)
def test_gpudirect_needs_a_module(image: str, containers: tuple[str, ...], reached: bool) -> None:
    """GPUDirect on V100s needs the module that the operator is configured to load."""
    driver = pod("driver", "a", image)
    more = [{"name": name, "image": driver["spec"]["containers"][0]["image"]} for name in containers]
    driver["spec"]["containers"] = more
    assert launched(pod("p", "a"), runtime(driver, nodes=(node("a"),)), 1).me.machine.gpudirect is reached


def test_roce_is_seen_by_the_workers_networks() -> None:
    """RoCE is known by the workers' networks: the launcher joins none."""
    start = pod("launcher", "a", labels={**MARKS, launcher.ROLE: "launcher"})
    server = pod("w-0", "a", annotations={"k8s.v1.cni.cncf.io/networks": "rail0"})
    for hostfile, ethernet in (("w-0 slots=1", True), ("", False)):
        job = launched(start, runtime(server, nodes=(node("a"),), hostfile=hostfile), 1)
        assert job.machines[0].ethernet is ethernet


@pytest.mark.parametrize(
    ("netdev", "ethernet"), [("ib0", False), ("rail0", False), ("enp24s0np0", True), ("eth2", True)]
)
def test_ethernet_is_known_by_the_kernels_names(netdev: str, ethernet: bool) -> None:
    """Ports of InfiniBand that a site has named itself stay InfiniBand."""
    known = profile("dgx1-v100-16gb")
    hcas = [hca.model_copy(update={"netdev": f"{netdev}{hca.name}"}) for hca in known.hcas]
    cluster = runtime(nodes=(node("a"),))
    cluster.profile = lambda _: with_hcas(known, hcas)
    assert launched(pod("p", "a"), cluster, 1).me.machine.ethernet is ethernet


def test_a_volume_has_the_files_that_are_on_this_machine(tmp_path: Path) -> None:
    """Of a claim with a folder in the cluster's home; the folder of the mount is below it, and others have none."""
    (tmp_path / "volumes/ns/sets/train").mkdir(parents=True)
    mounts = [
        {"name": "sets", "mountPath": "/sets", "subPath": "train"},
        {"name": "other", "mountPath": "/other"},
        {"name": "dshm", "mountPath": "/shared"},
    ]
    one = pod("p", "a", volumeMounts=mounts)
    claims = {name: {"name": name, "persistentVolumeClaim": {"claimName": name}} for name in ("sets", "other")}
    one["spec"]["volumes"] = [*claims.values(), {"name": "dshm", "emptyDir": {}}]
    found = launched(one, runtime(one, nodes=(node("a"),), home=tmp_path), 1.0)
    assert found.me.files == {"/sets": tmp_path / "volumes/ns/sets/train"}


def test_variables_from_the_pods_own_fields() -> None:
    """The number of a slice is an annotation of the pod, which the Job controller makes a variable."""
    place = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
    env = [{"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"fieldPath": place}}}]
    one = pod("p", "a", env=env, annotations={"batch.kubernetes.io/job-completion-index": "3"})
    assert launched(one, runtime(one, nodes=(node("a"),)), 1.0).environment == {"JOB_COMPLETION_INDEX": "3"}
