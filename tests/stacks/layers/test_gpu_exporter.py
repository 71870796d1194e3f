"""The exporter of GPU metrics as a setting of stacks without the GPU Operator."""

from functools import cache

import yaml

from core.pulumi_values import REDACTED
from policies.check import Checker
from policies.manifests.inventory import Inventory
from policies.manifests.objects import objects
from stacks.environment import build, placeholder_accounts
from stacks.layers.monitoring_files import RULES, files
from stacks.loading.settings import load, parse
from tests.support.recorded import ROOT, before, component, environment, of_kind, only_object, spec
from tests.support.stack_settings import changed, expect_refusal
from toolkit.render.manifests import manifests
from toolkit.render.recorder import Registration

EXPORTER = {"image": "nvidia/dcgm-exporter:1.7.2-2.0.0-rc.9-ubuntu18.04"}
DAEMON_SET = "dcgm-exporter"


@cache
def of_2020() -> tuple[Registration, ...]:
    """Return the Redpaper's stack of 4.4 with the exporter."""
    wanted = parse(changed("redpaper-4.4", gpu__exporter=EXPORTER), "test")
    return component(lambda: build(wanted, placeholder_accounts(wanted, REDACTED), ROOT))


def test_it_comes_after_what_gives_nodes_their_gpus() -> None:
    """The exporter starts after driver and runtime hook are asked for, on the nodes that have GPUs."""
    recorded = of_2020()
    exporter = only_object(recorded, "DaemonSet", DAEMON_SET)
    earlier = {each.type.rpartition(":")[2] for each in before(exporter, {item.urn: item for item in recorded})}
    pod = exporter.inputs["spec"]["template"]["spec"]
    assert {"SpecialResource", "SecurityContextConstraints", "RoleBinding"} <= earlier
    assert pod["nodeSelector"] == {
        "feature.node.kubernetes.io/pci-10de.present": "true",
        "hpc.pulumi/gpu-node": "true",
    }


def test_the_release_says_what_can_be_read_of_it() -> None:
    """4.4 has the kubelet's socket and takes ServiceMonitors; 3.11 has neither."""
    old, new = environment("supermicro-3.11"), of_2020()
    assert [len(of_kind(each, "ServiceMonitor")) for each in (old, new)] == [0, 1]
    volumes = [spec(each, "DaemonSet", DAEMON_SET)["template"]["spec"]["volumes"] for each in (old, new)]
    assert [any("hostPath" in volume for volume in each) for each in volumes] == [False, True]


def test_rules_are_where_a_prometheus_of_the_release_reads_them() -> None:
    """4.4's own Prometheus takes them from the exporter's namespace, 3.11's from nobody: there they are a file."""
    assert [len(of_kind(each, "PrometheusRule")) for each in (environment("supermicro-3.11"), of_2020())] == [0, 1]
    (rule,) = of_kind(of_2020(), "PrometheusRule")
    assert rule.inputs["metadata"]["namespace"] == "dcgm-exporter"
    in_cluster = {each["alert"] for each in rule.inputs["spec"]["groups"][0]["rules"]}
    file = yaml.safe_load(files(load("supermicro-3.11", ROOT))[RULES])
    written = {each["alert"] for each in file["groups"][0]["rules"]}
    # 4.4's node_exporter has no states of ports, 3.11's kubelet no pods of GPUs, and that stack no InfiniBand.
    assert in_cluster - written == {"GpuUnderused", "InfinibandLinkLost", "InfinibandErrors"}
    assert written >= {"GpuTooHot", "GpuMissing", "GpuFault", "GpuPowerBrake", "GpuPagesRetired"}


def test_thresholds_are_settings() -> None:
    """The alerts of an exporter of our own follow its thresholds."""
    wanted = parse(changed("supermicro-3.11", gpu__exporter={**EXPORTER, "temperature": 77}), "test")
    assert "DCGM_FI_DEV_GPU_TEMP > 77" in files(wanted)[RULES]


def test_our_rules_have_nothing_against_it() -> None:
    """The policies have no finding about the exporter of 4.4, which no stack of the repository has."""
    found = [each for manifest in manifests(of_2020()) for each in objects(manifest)]
    findings = Checker().check(found, Inventory(found))
    assert [str(each) for each in findings if DAEMON_SET in str(each)] == []


def test_the_gpu_operator_has_its_own() -> None:
    """Two exporters would count every GPU twice, so the one of our own is refused by name."""
    expect_refusal(changed("redpaper-today", gpu__exporter=EXPORTER), "gpu … exporter … GPU Operator … leave it out")
