"""The tenants of the stacks that are not golden: launchers and namespaces. `golden/others` has the rest."""

import pytest

from stacks.loading.settings import load
from tests.stacks.others import named
from tests.support.golden import STACKS as GOLDEN
from tests.support.recorded import OURS, ROOT, environment, of_kind

OTHERS = [stack for stack in OURS if stack not in GOLDEN]


@pytest.mark.parametrize("stack", OTHERS)
def test_launchers_take_no_device(stack: str) -> None:
    """A launcher asks for neither GPUs nor RDMA devices."""
    for name, job in named(stack, "MPIJob").items():
        assert "nvidia.com/gpu" not in str(job["spec"]["mpiReplicaSpecs"]["Launcher"]), name
        assert "rdma/" not in str(job["spec"]["mpiReplicaSpecs"]["Launcher"]), name


@pytest.mark.parametrize("stack", OTHERS)
def test_namespaces_have_the_ids_and_the_level_of_their_tenants(stack: str) -> None:
    """User ids, SELinux level, and the pod security that admits IPC_LOCK only where RDMA needs it."""
    settings = load(stack, ROOT)
    found = {
        item.inputs["metadata"]["name"]: item.inputs["metadata"] for item in of_kind(environment(stack), "Namespace")
    }
    for tenant in settings.tenants:
        ids = f"{tenant.uid_range.start}/{tenant.uid_range.size}"
        assert found[tenant.namespace]["annotations"] == {
            "openshift.io/sa.scc.mcs": tenant.mcs,
            "openshift.io/sa.scc.supplemental-groups": ids,
            "openshift.io/sa.scc.uid-range": ids,
        }
        level = found[tenant.namespace]["labels"].get("pod-security.kubernetes.io/enforce")
        today = "privileged" if settings.rdma_resources and tenant.rdma else "restricted"
        assert level == (None if settings.version.historical else today)
