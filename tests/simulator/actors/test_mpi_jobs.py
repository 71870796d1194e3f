"""Whole MPIJobs of the real operator, v0.2.3, on simulated pods."""

import os
import signal

import pytest

from apis import kinds
from simulator import cluster
from simulator.actors import pods
from simulator.cluster import Cluster
from simulator.processes import Processes
from tests.simulator.actors import platform
from tests.simulator.actors.conftest import SPEC, Person

pytestmark = pytest.mark.cluster

TENANT = platform.TENANT
JOB = kinds.MPI_JOB_V1ALPHA2


def end(user: Person, name: str) -> str | None:
    """Return how a job ended, None while it has not."""
    return user.condition(JOB, name, TENANT, "Succeeded", "Failed")


@pytest.mark.parametrize(("workers", "gpus"), [(1, 8), (2, 8), (16, 1)])
def test_a_job_succeeds_and_frees_its_gpus(ready: Person, workers: int, gpus: int) -> None:
    """A job runs to its end: workers, launcher, and workers removed at the end."""
    name = f"job-{workers:02}x{gpus:02}"
    ready.create(JOB, platform.mpi_job(name, workers, gpus), TENANT)
    selector = f"mpi_job_name={name},mpi_role_type=worker"
    ready.eventually(lambda: len([pod for pod in ready.pods(TENANT, selector) if pods.runs(pod)]) == workers)
    used = {pods.node_name(pod) for pod in ready.pods(TENANT, selector)}
    assert ready.eventually(lambda: end(ready, name)) == "Succeeded"
    ready.eventually(lambda: not ready.pods(TENANT, selector))
    assert used == (set(platform.DGX) if workers > 1 else used & set(platform.DGX))
    types = [one["type"] for one in ready.get(JOB, name, TENANT)["status"]["conditions"]]
    assert types == ["Created", "Running", "Succeeded"]


def test_one_worker_without_a_place_keeps_the_launcher_waiting(ready: Person) -> None:
    """The launcher waits while a worker is Pending."""
    name = "too-big"
    ready.create(JOB, platform.mpi_job(name, 17, 1), TENANT)
    workers = f"mpi_job_name={name},mpi_role_type=worker"
    ready.eventually(lambda: len([pod for pod in ready.pods(TENANT, workers) if pods.runs(pod)]) == 16)

    def started() -> bool:
        launchers = ready.pods(TENANT, f"mpi_job_name={name},mpi_role_type=launcher")
        return any(pods.phase(pod) != "Pending" for pod in launchers)

    ready.never(started, seconds=3)
    assert end(ready, name) is None
    ready.delete(JOB, name, TENANT)
    # The garbage collector looks for new kinds every 30 s, and the tests' MPIJob is one.
    ready.eventually(lambda: not ready.pods(TENANT, f"mpi_job_name={name}"), seconds=300)


def test_operator_without_a_right_makes_nothing(ready: Person) -> None:
    """A job does not run where the operator's ClusterRole lacks StatefulSets."""
    name = "no-right"
    rules = [one for one in platform.MPI_RULES if "statefulsets" not in one["resources"]]
    ready.patch(kinds.CLUSTER_ROLE, "mpi-operator", {"rules": rules})
    restart(ready)
    ready.create(JOB, platform.mpi_job(name, 1, 8), TENANT)
    ready.never(lambda: ready.pods(TENANT, f"mpi_job_name={name}"), seconds=3)
    ready.patch(kinds.CLUSTER_ROLE, "mpi-operator", {"rules": platform.MPI_RULES})
    assert ready.eventually(lambda: end(ready, name), seconds=300) == "Succeeded"


def test_no_operator_no_job(ready: Person) -> None:
    """A job does not run while the operator's Deployment has no pod."""
    name = "no-operator"
    ready.patch(kinds.DEPLOYMENT, "mpi-operator", {"spec": {"replicas": 0}}, "mpi-operator")
    ready.eventually(lambda: not ready.pods("mpi-operator"))
    ready.create(JOB, platform.mpi_job(name, 1, 8), TENANT)
    ready.never(lambda: ready.pods(TENANT, f"mpi_job_name={name}"), seconds=2)
    ready.patch(kinds.DEPLOYMENT, "mpi-operator", {"spec": {"replicas": 1}}, "mpi-operator")
    assert ready.eventually(lambda: end(ready, name)) == "Succeeded"


def test_killed_actors_go_on_where_they_were(ready: Person, simulated: Cluster) -> None:
    """After a kill of the actors a waiting job goes on, and resources stay."""
    actors = Processes(simulated.home).records()["actors"]
    os.kill(actors.pid, signal.SIGKILL)
    name = "after-kill"
    ready.create(JOB, platform.mpi_job(name, 2, 8), TENANT)
    ready.never(lambda: ready.pods(TENANT, f"mpi_job_name={name}"), seconds=2)
    assert "actors" in cluster.up(SPEC, simulated.home).started
    assert ready.eventually(lambda: end(ready, name), seconds=300) == "Succeeded"
    assert ready.offers(platform.DGX[0], "nvidia.com/gpu") == 8


def restart(user: Person) -> None:
    """Restart the operator, whose informers were authorised when they were opened."""
    for pod in user.pods("mpi-operator"):
        user.delete(kinds.POD, pod["metadata"]["name"], "mpi-operator")
    user.eventually(lambda: [pod for pod in user.pods("mpi-operator") if pods.runs(pod)])
