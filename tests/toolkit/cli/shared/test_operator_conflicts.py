"""Subscriptions and OperatorGroups under other names than those of the settings."""

import pytest

from components.operators.olm_operator import OlmOperatorArgs
from core.apis import kinds
from toolkit.cli.shared import operator_conflicts

NFD = OlmOperatorArgs(namespace="openshift-nfd", package="nfd", channel="stable")
PLACE = "node_feature_discovery"


def conflicts(operator: OlmOperatorArgs, *existing: tuple[str, str, str, str]) -> list[str]:
    """Return the conflicts with objects of a kind, namespace, name and package."""
    subscriptions, groups = (
        [
            {"metadata": {"namespace": where, "name": name}, "spec": {"name": package}}
            for what, where, name, package in existing
            if what == kind.kind
        ]
        for kind in (kinds.SUBSCRIPTION, kinds.OPERATOR_GROUP)
    )
    return [*operator_conflicts.conflicts(PLACE, operator, subscriptions, groups)]


@pytest.mark.parametrize(
    ("existing", "text"),
    [
        (("Subscription", "openshift-nfd", "nfd-x1", "nfd"), f"set {PLACE}.subscription to nfd-x1, and adopt it"),
        (
            ("Subscription", "features", "nfd", "nfd"),
            f"set {PLACE}.namespace to features and {PLACE}.subscription to nfd, and adopt it",
        ),
        (
            ("OperatorGroup", "openshift-nfd", "openshift-nfd-zx9", ""),
            f"set {PLACE}.operator_group to openshift-nfd-zx9",
        ),
    ],
)
def test_another_name_is_named_with_the_setting(existing: tuple[str, str, str, str], text: str) -> None:
    """What exists under another name is a conflict, whose remedy is a setting; with the setting there is none."""
    (said,) = conflicts(NFD, existing)
    assert text in said
    _, namespace, name, _ = existing
    field = "subscription" if existing[0] == "Subscription" else "operator_group"
    assert conflicts(NFD.model_copy(update={"namespace": namespace, field: name}), existing) == []


def test_of_several_operator_groups_one_has_to_stay() -> None:
    """OperatorGroups that are in each other's way are named, whichever of them the settings name."""
    existing = [("OperatorGroup", "openshift-nfd", name, "") for name in ("nfd", "nfd-zx9")]
    for group in (None, "nfd-zx9"):
        (said,) = conflicts(NFD.model_copy(update={"operator_group": group}), *existing)
        assert "2 OperatorGroups, nfd and nfd-zx9" in said
        assert "delete all but one (`oc delete operatorgroup -n openshift-nfd NAME`)" in said


def test_what_is_of_others_is_no_conflict() -> None:
    """Subscriptions to other packages, and OperatorGroups of other namespaces, are none."""
    others = [("Subscription", "openshift-nfd", "x", "other"), ("OperatorGroup", "elsewhere", "g", "")]
    assert conflicts(NFD, *others, ("OperatorGroup", "openshift-nfd", "nfd", "")) == []
