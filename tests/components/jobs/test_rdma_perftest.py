"""The RDMA test of two nodes."""

from typing import Any

from components.fabric import gid_index
from components.jobs import rdma_perftest
from core.apis.names import NETWORKS
from tests.support.recorded import environment, spec


def pod(name: str) -> Any:
    """Return the pod specification of a job of dev."""
    return spec(environment("dev"), "Job", name)["template"]["spec"]


def test_client_lists_every_hca_before_it_measures_one() -> None:
    """The client lists the hosts of every HCA before it measures one."""
    script = pod("mofed-test-job")["containers"][0]["args"][0]
    assert [f"ibhosts -C mlx5_{port}" in script for port in range(4)] == [True] * 4
    assert script.endswith("ib_write_bw mofed-test-job-listener -d mlx5_1")
    assert script.startswith("whoami; ls -l /dev/infiniband")


def test_client_shows_what_it_may_lock_behind_the_command() -> None:
    """The limit of locked memory is logged with its command."""
    assert "; set -ex; ulimit -l; " in pod("mofed-test-job")["containers"][0]["args"][0]


def test_the_two_pods_run_on_the_two_nodes_through_the_scheduler() -> None:
    """Both pods have an affinity to their node, and no nodeName."""
    for name, node in (("mofed-test-job", "dgx01"), ("mofed-test-job-listener", "dgx02")):
        assert "nodeName" not in pod(name)
        required = pod(name)["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        values = required["nodeSelectorTerms"][0]["matchFields"][0]["values"]
        assert values == [f"{node}.ocp4.scale.ibm.com"]


def test_pods_hold_one_of_each_hca_and_ipc_lock_and_no_gpu() -> None:
    """Both pods hold one share of each HCA, IPC_LOCK and no GPU."""
    container = pod("mofed-test-job")["containers"][0]
    assert container["resources"]["limits"] == {f"rdma/shared_ib{port}": 1 for port in range(4)}
    assert container["securityContext"]["capabilities"] == {"add": ["IPC_LOCK"], "drop": ["ALL"]}
    assert pod("mofed-test-job")["serviceAccountName"] == "mpi"


def test_failures_show_at_once_and_with_their_last_words() -> None:
    """A failed pod is not retried, and its log is the termination message."""
    assert spec(environment("dev"), "Job", "mofed-test-job")["backoffLimit"] == 0
    assert pod("mofed-test-job")["restartPolicy"] == "Never"
    assert pod("mofed-test-job")["containers"][0]["terminationMessagePolicy"] == "FallbackToLogsOnError"


def test_roce_finds_the_pods_own_address_on_both_ends() -> None:
    """On RoCE both ends use the GID index of their own address."""
    recorded = environment("nvaie-roce")
    scripts = {
        name: spec(recorded, "Job", name)["template"]["spec"]["containers"][0]["args"][0]
        for name in ("mofed-test-job", "mofed-test-job-listener")
    }
    found = gid_index.port_index("mlx5_0")
    assert scripts["mofed-test-job-listener"] == f"{found};ib_write_bw -d mlx5_0 -x $index --tclass 106"
    assert f"; ibstatus; {rdma_perftest.MTUS}; {found}; set -ex; ulimit -l; " in scripts["mofed-test-job"]
    assert scripts["mofed-test-job"].endswith("; ib_write_bw mofed-test-job-listener -d mlx5_0 -x $index --tclass 106")


def test_roce_asks_no_subnet_manager_and_joins_the_ports_networks() -> None:
    """On RoCE there is no ibhosts, and both pods join the ports' networks."""
    recorded = environment("nvaie-roce")
    for name in ("mofed-test-job", "mofed-test-job-listener"):
        template = spec(recorded, "Job", name)["template"]
        assert "ibhosts" not in template["spec"]["containers"][0]["args"][0]
        assert template["metadata"]["annotations"][NETWORKS].split(",")[0] == "nvaie-rail0"
        assert template["spec"]["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}}
    assert "metadata" not in spec(environment("dev"), "Job", "mofed-test-job")["template"]
