"""The MPI job builder of today's generation."""

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from components.fabric import gid_index
from components.jobs import mpi_job_ssh as ssh
from components.jobs.layout import Layout
from components.jobs.mpi_job import MpiJob, MpiJobArgs, V2Beta1, mpirun, spec
from components.operators.mpi_operator import MpiOperator, MpiOperatorArgs
from components.tenants.mpi_scc import MpiScc, MpiSccArgs
from components.tenants.tenant import IdRange, Tenant, TenantArgs
from core.apis import kinds
from core.apis.nccl import Transport
from core.hardware import profiles, topology
from policies.check import Checker
from policies.configuration import Configuration
from policies.manifests.inventory import Inventory
from policies.manifests.objects import objects
from tests.components.kit import mpi_job
from tests.components.kit import mpi_job_v2beta1 as arguments
from tests.support.recorded import component, only_object
from toolkit.render.manifests import manifests

DGX_A100 = profiles.profile("dgx-a100")
PORTS = topology.nccl_ib_hca(hca for hca in DGX_A100.hcas if hca.gpus)


def pod(role: str, **changes: Any) -> Any:
    """Return the pod of a role."""
    return spec(arguments(**changes))["mpiReplicaSpecs"][role]["template"]["spec"]


def container(role: str, **changes: Any) -> Any:
    """Return the only container of a role."""
    (found,) = pod(role, **changes)["containers"]
    return found


def test_bounds_stand_in_the_policy_of_the_run() -> None:
    """Deadline and retries are in runPolicy."""
    found = spec(arguments(deadline=600, resilience={"limit": 2}))
    assert found["runPolicy"] == {"cleanPodPolicy": "Running", "backoffLimit": 2, "activeDeadlineSeconds": 600}
    assert not {"cleanPodPolicy", "backoffLimit", "activeDeadlineSeconds"} & {*found}


def test_launcher_comes_after_its_workers() -> None:
    """The launcher is created when all workers are ready, which means that sshd listens."""
    found = spec(arguments(v2beta1=V2Beta1(ssh_port=2200)))
    assert (found["launcherCreationPolicy"], found["mpiImplementation"]) == ("WaitForWorkersReady", "OpenMPI")
    worker = found["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    assert worker["readinessProbe"]["tcpSocket"] == {"port": 2200}
    assert worker["ports"] == [{"name": "ssh", "containerPort": 2200, "protocol": "TCP"}]


def test_workers_run_sshd_on_a_port_that_everybody_may_open() -> None:
    """Workers run sshd without root, on an unprivileged port."""
    shell, option, script = container("Worker")["command"]
    assert (shell, option) == ("/bin/sh", "-c")
    words = shlex.split(script)
    assert words[:6] == ["exec", "/usr/sbin/sshd", "-D", "-e", "-f", ssh.SSHD_CONFIG]
    assert words[6:8] == ["-p", "2222"]
    assert spec(arguments())["sshAuthMountPath"] == "/home/mpi/.ssh"


def test_sessions_are_told_where_mpi_is() -> None:
    """The SSH server sets the paths of MPI in its sessions."""
    script = container("Worker")["command"][2]
    assert '-o "SetEnv PATH=$PATH LD_LIBRARY_PATH=$LD_LIBRARY_PATH ' in script


def test_sessions_on_roce_are_told_the_pods_own_index() -> None:
    """On RoCE, sshd sets the pod's own GID index in its sessions (nccl #718)."""
    roce = {"v2beta1": V2Beta1(roce_ports=("mlx5_0", "mlx5_1")), "rdma_resources": ("rdma/shared_rail0",)}
    script = container("Worker", **roce)["command"][2]
    find, server = gid_index.common_index(("mlx5_0", "mlx5_1")), script.rpartition(";exec ")[2]
    assert script == f"{find};exec {server}"
    for index, exported in (("5", True), ("", False)):
        printed = subprocess.run(
            ["sh", "-c", server.replace(ssh.SSHD, "printf '%s\\n'")],
            env={"PATH": "/bin", "index": index},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert (f" {gid_index.NCCL}={index}\n" in printed) is exported
        assert gid_index.NCCL in printed or not exported
    assert gid_index.NCCL not in container("Worker", **roce | {"transport": Transport.TCP})["command"][2]
    with pytest.raises(ValidationError, match=f"environment: {gid_index.NCCL}=3 would override"):
        arguments(**roce, environment={gid_index.NCCL: "3"})


@pytest.mark.parametrize("role", ["Launcher", "Worker"])
def test_the_user_has_an_entry_with_a_shell(role: str) -> None:
    """The job's user has an entry with a shell in /etc/passwd."""
    template = spec(arguments())["mpiReplicaSpecs"][role]["template"]
    content = template["metadata"]["annotations"]
    paths = {item["path"]: item["fieldRef"]["fieldPath"] for item in volume(template)["downwardAPI"]["items"]}
    (mount,) = [
        each for each in template["spec"]["containers"][0]["volumeMounts"] if each["mountPath"] == "/etc/passwd"
    ]
    key = re.fullmatch(r"metadata\.annotations\['(.+)'\]", paths[mount["subPath"]])
    assert key is not None
    assert "mpi:x:1075481000:1075481000::/home/mpi:/bin/sh\n" in content[key[1]]


def volume(template: Any) -> Any:
    """Return the volume of a template that holds the files for SSH."""
    (found,) = [each for each in template["spec"]["volumes"] if each["name"] == ssh.VOLUME]
    return found


def test_server_writes_nowhere_and_takes_keys_only() -> None:
    """The SSH server writes no file, checks no modes and accepts only keys."""
    lines = ssh.files(arguments())["sshd-config"].splitlines()
    assert {"PidFile none", "StrictModes no", "UsePAM no", "PasswordAuthentication no"} <= {*lines}
    assert "HostKey /home/mpi/.ssh/id_rsa" in lines
    assert not [line for line in lines if line.startswith("Port")]


def test_client_finds_the_port_whatever_starts_it() -> None:
    """The SSH client's configuration has the port (mpi-operator #842), and asks about no host."""
    lines = ssh.files(arguments(v2beta1=V2Beta1(ssh_port=2200)))["ssh-config"].splitlines()
    assert lines[0] == "Host *"
    assert {"Port 2200", "StrictHostKeyChecking no", "UserKnownHostsFile /dev/null", "BatchMode yes"} <= {*lines}
    assert mpirun(arguments())[1:3] == ["-hostfile", "/etc/mpi/hostfile"]


def test_launcher_says_what_it_needs() -> None:
    """The launcher has requests and limits, and no whole CPU."""
    resources = container("Launcher")["resources"]
    assert resources["requests"] == resources["limits"] == {"cpu": "500m", "memory": "1Gi"}


def test_second_networks_stand_beside_the_files_for_ssh() -> None:
    """Annotations of networks and of SSH files do not replace each other."""
    roles = spec(arguments(networks=("adas-ens1",)))["mpiReplicaSpecs"]
    annotations = {role: roles[role]["template"]["metadata"]["annotations"] for role in roles}
    assert annotations["Worker"] == annotations["Launcher"] | {"k8s.v1.cni.cncf.io/networks": "adas-ens1"}


def test_images_of_today_choose_their_own_drivers() -> None:
    """IBV_DRIVERS is not set."""
    assert "env" not in container("Worker")


def test_gpudirect_reaches_the_ports_of_a_dgx_a100() -> None:
    """NCCL_NET_GDR_LEVEL reaches ports behind two PCIe bridges."""
    level = topology.gpudirect_level(DGX_A100)
    words = mpirun(arguments(gdr_level=level, ib_hca=PORTS))
    assert "NCCL_NET_GDR_LEVEL=PXB" in words
    assert f"NCCL_IB_HCA={PORTS}" in words
    assert "NCCL_NET_GDR_LEVEL=2" in mpirun(mpi_job(gdr_level=level))


def test_tcp_names_no_port() -> None:
    """Over TCP, NCCL_IB_HCA is not set."""
    words = mpirun(arguments(transport=Transport.TCP, ib_hca=PORTS))
    assert "NCCL_NET_GDR_LEVEL=LOC" in words
    assert not [word for word in words if word.startswith("NCCL_IB_HCA")]


def test_queued_jobs_name_their_queue_and_leave_suspension_to_kueue() -> None:
    """Jobs with a queue name it, and leave `suspend` to Kueue."""
    job = only_object(
        component(lambda: MpiJob("job", arguments(v2beta1=V2Beta1(queue="gpus")), lambda *_: "")), "MPIJob"
    )
    assert job.inputs["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "gpus"
    assert "suspend" not in job.inputs["spec"]["runPolicy"]


def test_what_is_not_said_is_not_there() -> None:
    """Queue, suspension and ttl are absent unless set."""
    job = only_object(component(lambda: MpiJob("job", arguments(), lambda *_: "")), "MPIJob")
    assert not [label for label in job.inputs["metadata"]["labels"] if "kueue" in label]
    assert not {"suspend", "ttlSecondsAfterFinished"} & {*job.inputs["spec"]["runPolicy"]}
    policy = spec(arguments(v2beta1=V2Beta1(suspend=True, ttl=60)))["runPolicy"]
    assert (policy["suspend"], policy["ttlSecondsAfterFinished"]) == (True, 60)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"v2beta1": V2Beta1(queue="gpus", suspend=True)}, "v2beta1.suspend: with a queue Kueue suspends"),
        (
            {"kind": kinds.MPI_JOB_V1ALPHA2, "v2beta1": V2Beta1(ttl=1)},
            "MPIJob v1alpha2 does not support queue",
        ),
        ({"kind": kinds.MPI_JOB_V1}, "kind: MPIJob v1 is not supported; known: v1alpha2, v2beta1"),
        ({"job_name": "a" * 55}, "must be a DNS-1035 label.*to 54 characters"),
        ({"job_name": "a" * 54, "layout": Layout(pods=11, gpus=1)}, "to 53 characters"),
        ({"job_name": "16gpu"}, "start it with a letter"),
        ({"ib_hca": "mlx5_1"}, "ib_hca"),
    ],
)
def test_what_the_operator_would_refuse_is_refused_here(changes: dict[str, Any], message: str) -> None:
    """What v0.8.2 would only report in an event is refused."""
    with pytest.raises(ValidationError, match=message):
        arguments(**changes)


def test_our_own_rules_find_nothing() -> None:
    """The policies have no finding about the job."""

    def declare() -> None:
        MpiScc("scc", MpiSccArgs(base="restricted-v2"))
        uids = IdRange(start=1075480000)
        Tenant(
            "adas",
            TenantArgs(namespace="adas", uid_range=uids, mcs="s0:c26,c5", gpu_quota=16, scc_name="scc-for-mpi"),
        )
        MpiOperator("mpi", MpiOperatorArgs(kind=kinds.MPI_JOB_V2BETA1, image="mpioperator/mpi-operator:0.8.2"))
        MpiJob("job", arguments(gdr_level="PXB"), lambda *_: "")

    found = [each for manifest in manifests(component(declare)) for each in objects(manifest)]
    checker = Checker(configuration=Configuration({"api-served": {"kubernetes": "1.33"}}))
    remain = [*checker.check(found, Inventory(found, complete=True))]
    assert {finding.rule for finding in remain} == {"memlock-raised", "rdma-offered"}, [*map(str, remain)]


def _wait(job: MpiJobArgs, folder: Path, answers: str) -> subprocess.CompletedProcess[bytes]:
    """Run what a launcher waits by, with a scan that does `answers` and a clock of its own, in which no time passes."""
    clock = f"n=$(cat {folder}/now);echo $((n+1)) > {folder}/now;echo $n"
    for name, script in {"ssh-keyscan": answers, "sleep": ":", "date": clock}.items():
        program = folder / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    (folder / "now").write_text("0")
    (container,) = spec(job)["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["initContainers"]
    paths = {"PATH": f"{folder}:/usr/bin:/bin"}
    return subprocess.run(container["command"], env=paths, capture_output=True, check=False)


def test_launcher_of_a_queued_job_waits_for_every_worker(tmp_path: Path) -> None:
    """The launcher of a queued job waits for sshd on every worker (mpi-operator #615)."""
    job = arguments(layout=Layout(pods=2, gpus=8), v2beta1=V2Beta1(queue="jobs", start_timeout=60))
    asked = tmp_path / "asked"
    asked.mkdir()
    at_second_call = f"for host;do :;done;if [ -e {asked}/$host ];then echo key;fi;: > {asked}/$host"
    done = _wait(job, tmp_path, at_second_call)
    assert (done.returncode, done.stderr) == (0, b"")
    name, namespace = job.job_name, job.namespace
    hosts = {f"{name}-worker-{index}.{name}.{namespace}.svc" for index in range(2)}
    assert {path.name for path in asked.iterdir()} == hosts


def test_waiting_ends_with_the_name_of_the_worker_that_does_not_answer(tmp_path: Path) -> None:
    """The wait fails after its time with the name of the worker without sshd."""
    job = arguments(v2beta1=V2Beta1(queue="jobs", start_timeout=5))
    done = _wait(job, tmp_path, "exit 1")
    assert done.returncode == 1
    assert done.stderr.decode().startswith(f"no sshd on {job.job_name}-worker-0.")


def test_without_a_queue_and_restarts_the_operator_waits() -> None:
    """The first launcher comes after its workers; one that follows another waits itself for that of a lost node."""
    assert "initContainers" not in pod("Launcher")
    (container,) = pod("Launcher", resilience={"limit": 2})["initContainers"]
    assert container["name"] == "workers"


@pytest.mark.parametrize("place", ["/home", "/home/mpi/.ssh/keys", "/etc/mpi"])
def test_no_volume_hides_what_mpirun_needs(place: str) -> None:
    """Keys and the list of workers, below a claim, end in `Permission denied` or in ranks on the launcher alone."""
    with pytest.raises(ValidationError, match=f"mounts: {place} hides .*, by which mpirun reaches workers"):
        arguments(mounts={place: ""})
