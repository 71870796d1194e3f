"""Tenants without a right to RDMA on a fabric that has it."""

from typing import Any

import pytest

from components.jobs.torch_job import TorchJobArgs, spec
from core.apis.nccl import Transport
from stacks import environment
from stacks.loading.settings import parse
from tests.support.recorded import ROOT, component
from tests.support.stack_settings import changed, expect_refusal, first_args


def stack(**settings: Any) -> dict[str, Any]:
    """Return stack pytorch, whose tenant has no right to RDMA."""
    return changed("pytorch", tenants__0__rdma=False, **settings)


def test_its_jobs_use_tcp_and_its_account_no_scc() -> None:
    """No device and no IPC_LOCK, and pods at the level restricted."""
    wanted = parse(stack(), "test")
    args = first_args(wanted)
    assert isinstance(args, TorchJobArgs)
    (container,) = spec(args)["template"]["spec"]["containers"]
    assert args.transport is Transport.TCP
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert not [each for each in container["resources"]["limits"] if each.startswith("rdma/")]
    found = component(lambda: environment.build(wanted, environment.placeholder_accounts(wanted, "nobody"), ROOT))
    assert not [each for each in found if each.type.endswith(":RoleBinding") and each.name == "training-binding"]
    (namespace,) = (each for each in found if each.name == "training-namespace")
    assert namespace.inputs["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize("transport", ["gpudirect", "infiniband"])
def test_a_job_that_asks_for_it_is_refused(transport: str) -> None:
    """Place, value and remedy, before anything is created."""
    expect_refusal(
        stack(stages__0__workloads__0__transport=transport),
        f"job train-torch-02x08: transport {transport}: tenant training has rdma: false …; use tcp, or set rdma of",
    )
