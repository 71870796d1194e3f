"""NVIDIA's DRA driver for ComputeDomains, beside a device plugin."""

from components.gpu.compute_domain_driver import CLASSES, ComputeDomainDriverArgs, ComputeDomains
from core.apis import devices
from tests.support.declared import declared, faults, only

ARGS = ComputeDomainDriverArgs(node_selector={"hpc.pulumi/gpu-node": "true"})


def test_it_offers_channels_and_no_gpus() -> None:
    """Its classes are of daemons and channels, and its plugin runs no container for GPUs."""
    made = declared(lambda: ComputeDomains("domains", ARGS))
    assert faults(made) == []
    assert {*CLASSES} == {devices.DAEMON_CLASS, devices.CHANNEL_CLASS}
    plugin = only(made, "DaemonSet")["spec"]["template"]["spec"]
    assert [container["name"] for container in plugin["containers"]] == ["compute-domains"]
    assert plugin["nodeSelector"] == ARGS.node_selector


def test_the_controller_runs_without_any_right_on_a_node() -> None:
    """It asks the API server alone."""
    pod = only(declared(lambda: ComputeDomains("domains", ARGS)), "Deployment")["spec"]["template"]["spec"]
    assert "volumes" not in pod
    assert pod["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
