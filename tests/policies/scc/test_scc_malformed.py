"""Pods, SCCs and namespaces that are not what they should be."""

from typing import Any

import pytest

from policies.scc import InvalidPod, Namespace
from tests.policies.scc.samples import judge, pod, scc


@pytest.mark.parametrize(
    ("manifest", "field"),
    [
        ([], "pod"),
        ({"metadata": "x"}, "metadata"),
        ({"metadata": {"name": 5}}, "metadata.name"),
        ({"metadata": {"annotations": []}}, "metadata.annotations"),
        ({"metadata": {"annotations": {"a": 1}}}, "metadata.annotations[a]"),
        ({"metadata": {"annotations": {1: "a"}}}, "metadata.annotations"),
        ({"spec": []}, "spec"),
        ({"spec": {"hostPID": "yes"}}, "spec.hostPID"),
        ({"spec": {"volumes": {}}}, "spec.volumes"),
        ({"spec": {"volumes": ["x"]}}, "spec.volumes[0]"),
        ({"spec": {"volumes": [{"flexVolume": 1}]}}, "spec.volumes[0].flexVolume"),
        ({"spec": {"containers": [{}, "x"]}}, "spec.containers[1]"),
        ({"spec": {"initContainers": [{"securityContext": True}]}}, "spec.initContainers[0].securityContext"),
        (pod(security={"fsGroup": "5"}), "spec.securityContext.fsGroup"),
        (pod(security={"runAsUser": 2**63}), "spec.securityContext.runAsUser"),
        (pod(security={"runAsUser": True}), "spec.securityContext.runAsUser"),
        (pod(security={"runAsUser": 5.0}), "spec.securityContext.runAsUser"),
        (pod(security={"supplementalGroups": [1, "x"]}), "spec.securityContext.supplementalGroups[1]"),
        (pod(security={"seccompProfile": {"type": 1}}), "spec.securityContext.seccompProfile.type"),
        (pod(container={"seLinuxOptions": "s0"}), "spec.containers[0].securityContext.seLinuxOptions"),
        (pod(container={"capabilities": ["ALL"]}), "spec.containers[0].securityContext.capabilities"),
        (pod(container={"capabilities": {"add": "ALL"}}), "spec.containers[0].securityContext.capabilities.add"),
        (pod(container={"capabilities": {"add": [1]}}), "spec.containers[0].securityContext.capabilities.add[0]"),
        (pod(ports=[{"hostPort": "80"}]), "spec.containers[0].ports[0].hostPort"),
    ],
)
def test_pods(manifest: Any, field: str) -> None:
    """A field of a wrong type is an error that names it."""
    with pytest.raises(InvalidPod, match="expected") as caught:
        judge(manifest, scc())
    assert caught.value.path == field
    assert str(caught.value).startswith(f"{field}: expected ")


def test_nulls_in_lists() -> None:
    """A null where a string belongs is an empty string."""
    asked = pod(container={"capabilities": {"add": [None]}})
    assert judge(asked, scc(volumes=[None, "emptyDir"], allowedCapabilities=[""])).admitted
    assert (
        judge(asked, scc())
        .reasons[0]
        .message.startswith('provider open: .containers[0].capabilities.add: Invalid value: "": ')
    )


@pytest.mark.parametrize(
    ("constraint", "field"),
    [
        ("x", "sccs[1]"),
        ({"metadata": []}, "sccs[1].metadata"),
        (scc(volumes="*"), "sccs[1].volumes"),
        (scc(priority="10"), "sccs[1].priority"),
        (scc(allowHostPID="no"), "sccs[1].allowHostPID"),
        (scc(fsGroup={"type": "MustRunAs", "ranges": [1]}), "sccs[1].fsGroup.ranges[0]"),
        (scc(runAsUser={"type": "MustRunAs", "uid": "5"}), "sccs[1].runAsUser.uid"),
    ],
)
def test_sccs(constraint: Any, field: str) -> None:
    """A malformed SCC does not raise."""
    with pytest.raises(InvalidPod) as caught:
        judge(pod(), scc(), constraint)
    assert caught.value.path == field


def test_namespace() -> None:
    """Annotations that are not text do not raise."""
    broken: Any = {"openshift.io/sa.scc.uid-range": 1000}
    with pytest.raises(InvalidPod) as caught:
        judge(pod(), scc(), namespace=Namespace("adas", broken))
    assert caught.value.path == "namespace.annotations[openshift.io/sa.scc.uid-range]"


def test_long_values_are_cut() -> None:
    """Messages are shortened."""
    with pytest.raises(InvalidPod) as caught:
        judge({"spec": "x" * 10_000}, scc())
    assert len(str(caught.value)) < 200
