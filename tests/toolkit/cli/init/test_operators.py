"""Subscriptions, as OperatorHub and what is installed allow them."""

from typing import Any

import pytest

from stacks.releases import RELEASES
from tests.toolkit.cli.init.kit import api, cluster, obj, package, subscription
from toolkit.cli.init import facts, operators, reading

NFD = {"namespace": "openshift-nfd", "package": "nfd", "channel": "stable"}
GPU = {"namespace": "nvidia-gpu-operator", "package": "gpu-operator-certified", "channel": "v26.7"}
PENDING = subscription("nfd", "a", "stable", state="UpgradePending", installPlanRef={"name": "install-x1"})
PENDING["spec"]["installPlanApproval"] = "Manual"
GLOBAL = subscription("nfd", "openshift-operators", "stable", installedCSV="nfd.v4.20")


def fitted(wanted: dict[str, Any], release: str = "4.20", **changed: Any) -> tuple[dict[str, Any], list[str]]:
    """Return a subscription on a cluster, and what is to be decided of it."""
    settings = {"part": {"operator": dict(wanted)}}
    found: facts.Cluster = reading.read(api(cluster(**changed)))
    decisions = operators.fit(settings, found, RELEASES[release], "site")
    return settings["part"]["operator"], [f"{one.place}: {one.text}" for one in decisions]


def test_the_source_is_that_of_the_catalogue() -> None:
    """A mirrored catalogue has another name and place."""
    mirrored = package("nfd", "mirror", "stable")
    mirrored["status"]["catalogSourceNamespace"] = "olm"
    assert fitted(NFD, PACKAGE_MANIFEST=[mirrored]) == ({**NFD, "source": "mirror", "source_namespace": "olm"}, [])


@pytest.mark.parametrize(
    ("release", "channels", "channel", "text"),
    [
        ("4.20", ("stable", "v26.7"), "v26.7", []),
        ("4.20", ("v26.3", "v25.10"), "v26.3", ["has v26.3, v25.10 here, and not v26.7"]),
        ("4.20", ("v24.6", "stable"), "v24.6", ["has v24.6, stable here, and not v26.7"]),
    ],
)
def test_the_channel_is_one_that_is_offered(release: str, channels: Any, channel: str, text: list[str]) -> None:
    """The example's channel stays where it is offered; else the newest that the vendor lists, or the default one."""
    found, said = fitted(GPU, release, PACKAGE_MANIFEST=[package("gpu-operator-certified", "certified", *channels)])
    assert found["channel"] == channel
    assert [one for one in said if not text or text[0] not in one] == []


def test_an_operator_for_all_namespaces_watches_all() -> None:
    """An operator that the catalogue offers for all namespaces only watches all of them."""
    found, _ = fitted(NFD, PACKAGE_MANIFEST=[package("nfd", "redhat-operators", "stable", modes=("AllNamespaces",))])
    assert found["own_namespace_only"] is False


def test_an_operator_that_is_not_offered_is_reported() -> None:
    """An operator that no catalogue offers is named with package and catalogue."""
    _, (said,) = fitted(NFD, PACKAGE_MANIFEST=[package("other", "redhat-operators", "stable")])
    assert said.startswith("part.operator: OperatorHub here does not offer nfd (`oc get packagemanifests`): enable")


def test_a_subscription_elsewhere_is_followed() -> None:
    """The settings have namespace, channel, catalogue, approval and watched namespaces of an existing Subscription."""
    there = subscription("nfd", "nfd", "4.19", installedCSV="nfd.v4.19")
    there["spec"]["installPlanApproval"] = "Manual"
    found, (said,) = fitted(
        NFD,
        SUBSCRIPTION=[there],
        OPERATOR_GROUP=[obj("g", "nfd", spec={})],
        CLUSTER_SERVICE_VERSION=[obj("nfd.v4.19", "nfd", status={"phase": "Succeeded"})],
    )
    assert found == {
        **NFD,
        "namespace": "nfd",
        "channel": "4.19",
        "source": "mirror",
        "approval": "Manual",
        "own_namespace_only": False,
        "operator_group": "g",
    }
    assert "`./hpc state adopt --stack site`" in said


def deployed(name: str, namespace: str, image: str, **annotations: str) -> dict[str, Any]:
    """Return the Deployment of a controller."""
    pods = {"spec": {"containers": [{"name": name, "image": image}]}}
    body = obj(name, namespace, spec={"template": pods})
    body["metadata"]["annotations"] = annotations
    return body


def test_what_another_tool_manages_is_used_as_it_is() -> None:
    """An operator of Argo CD, of Helm, or of OpenShift's namespace for all, is used, with its channel or version."""
    done: dict[str, Any] = {
        "CLUSTER_SERVICE_VERSION": [obj("nfd.v4.20", "openshift-operators", status={"phase": "Succeeded"})]
    }
    found, (said,) = fitted(NFD, SUBSCRIPTION=[GLOBAL], **done)
    assert found == {"installed": True, "package": "nfd", "namespace": "openshift-operators", "channel": "stable"}
    assert "for all namespaces: the stack uses it" in said

    managed = subscription("nfd", "nfd", "4.19", installedCSV="nfd.v4.19")
    managed["metadata"]["annotations"] = {"argocd.argoproj.io/tracking-id": "gpus:x"}
    done = {"CLUSTER_SERVICE_VERSION": [obj("nfd.v4.19", "nfd", status={"phase": "Succeeded"})]}
    found, (said,) = fitted(NFD, SUBSCRIPTION=[managed], **done)
    assert found == {"installed": True, "package": "nfd", "namespace": "nfd", "channel": "4.19"}
    assert "managed by Argo CD application gpus:x" in said

    image = "nvcr.io/nvidia/gpu-operator:v25.10.1"
    chart = deployed("gpu-operator", "gpus", image, **{"meta.helm.sh/release-name": "gpu-operator"})
    found, (said,) = fitted(GPU, DEPLOYMENT=[chart])
    assert found == {"installed": True, "package": GPU["package"], "namespace": "gpus", "channel": "v25.10"}
    assert "managed by Helm release gpu-operator" in said


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (
            {"SUBSCRIPTION": [subscription("nfd", "a", "stable"), subscription("nfd", "b", "stable")]},
            "a/nfd, and also b/nfd: two operators would act on the same objects; delete all",
        ),
        (
            {"SUBSCRIPTION": [subscription("nfd", "a", "stable", state="UpgradePending")]},
            "half-installed: it is UpgradePending, and nothing is installed; repair or delete it",
        ),
        (
            {
                "SUBSCRIPTION": [
                    subscription(
                        "nfd",
                        "a",
                        "stable",
                        conditions=[{"type": "ResolutionFailed", "status": "True", "message": "no operators found"}],
                    )
                ]
            },
            "half-installed: no operators found; repair",
        ),
        (
            {
                "SUBSCRIPTION": [subscription("nfd", "a", "stable", installedCSV="nfd.v1")],
                "CLUSTER_SERVICE_VERSION": [obj("nfd.v1", "a", status={"phase": "Failed", "message": "no rights"})],
            },
            "half-installed: its version nfd.v1 is Failed: no rights; repair",
        ),
        (
            {"SUBSCRIPTION": [subscription("nfd", "a", "stable", installedCSV="nfd.v1")]},
            "half-installed: its version nfd.v1 is missing; repair",
        ),
        (
            {
                "SUBSCRIPTION": [subscription("nfd", "a", "stable")],
                "OPERATOR_GROUP": [obj("nfd-x1", "a"), obj("nfd-x2", "a")],
            },
            "half-installed: namespace a has 2 OperatorGroups, nfd-x1, nfd-x2, and OLM installs nothing where there is "
            "more than one; delete all but one (`oc delete operatorgroup -n a NAME`)",
        ),
        (
            {
                "SUBSCRIPTION": [subscription("nfd", "a", "stable", installedCSV="nfd.v1")],
                "OPERATOR_GROUP": [obj("all", "a", spec={})],
            },
            "half-installed: its OperatorGroup all is for all namespaces, which channel stable does not support; "
            "correct it before the first update (`oc patch operatorgroup all -n a --type merge -p "
            """'{"spec":{"targetNamespaces":["a"]}}'`)""",
        ),
        (
            {"SUBSCRIPTION": [PENDING]},
            "its InstallPlan waits for a user's approval: `oc -n a patch installplan install-x1",
        ),
        (
            {"CLUSTER_SERVICE_VERSION": [obj("nfd.v1", "a")]},
            "a/nfd.v1 is a version of nfd without a Subscription, and the new one would fail on it: delete it first "
            "(`oc delete csv -n a nfd.v1`)",
        ),
        (
            {"NAMESPACE": [obj("openshift-nfd")]},
            "part.operator.namespace: the cluster has a namespace openshift-nfd already, without a Subscription to nfd",
        ),
    ],
)
def test_what_is_half_there_is_reported_with_its_remedy(changed: dict[str, Any], text: str) -> None:
    """A part of an installation that exists is reported in one sentence with its remedy."""
    _, said = fitted(NFD, **changed)
    assert [one for one in said if text in one], said


def test_a_node_feature_discovery_of_another_name_is_named() -> None:
    """The one object of the operator's namespace is the stack's, whatever its name."""
    there: dict[str, Any] = {"SUBSCRIPTION": [subscription("nfd", "nfd", "stable", installedCSV="nfd.v1")]}
    for name, expected in (("nfd-instance", None), ("features", "features")):
        found, _ = fitted(NFD, **there, NODE_FEATURE_DISCOVERY_V1=[obj(name, "nfd"), obj("x", "elsewhere")])
        assert found.get("instance") == expected


def test_an_operator_group_that_was_left_is_used() -> None:
    """The one OperatorGroup of a namespace is the stack's; of several the user deletes all but one."""
    found, (said,) = fitted(
        NFD, NAMESPACE=[obj("openshift-nfd")], OPERATOR_GROUP=[obj("openshift-nfd-x1", "openshift-nfd")]
    )
    assert found["operator_group"] == "openshift-nfd-x1"
    assert "imports it and its OperatorGroup openshift-nfd-x1" in said
    several = [obj(name, "openshift-nfd") for name in ("nfd", "openshift-nfd-x1")]
    found, (said,) = fitted(NFD, NAMESPACE=[obj("openshift-nfd")], OPERATOR_GROUP=several)
    assert "operator_group" not in found
    assert "2 OperatorGroups, nfd, openshift-nfd-x1" in said


def test_copies_of_a_global_operator_are_none() -> None:
    """Versions that OLM copies into every namespace are not installations."""
    copy = obj("nfd.v1", "a", labels={"olm.copiedFrom": "openshift-operators"})
    assert fitted(NFD, CLUSTER_SERVICE_VERSION=[copy])[1] == []
