"""Operators that `operators` of the settings adds: what is left out, what is refused, and what each comes after."""

from typing import Any

import pytest

from core.apis.names import WAIT_FOR
from core.apis.operators import OPERATORS
from stacks.loading.settings import parse
from stacks.settings.operators import OperatorSettings
from tests.conformance.rendered import is_of
from tests.conformance.schema import expect_conformity
from tests.support.recorded import before, every_operator, of_kind, only_object, spec
from tests.support.stack_settings import changed, data, expect_refusal
from toolkit.render.manifests import manifests

CERTIFICATES = {"package": "openshift-cert-manager-operator", "namespace": "cert-manager-operator"}
ADDED = {name: OPERATORS[name] for name in OperatorSettings.model_fields}
INSTANCES = [each.instance.kind for each in ADDED.values() if each.instance]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {**CERTIFICATES, "channel": "stable-v1", "own_namespace_only": False}),
        ({"channel": "stable-v1.18", "approval": "Manual"}, {**CERTIFICATES, "channel": "stable-v1.18"}),
        ({"source": "mirror", "namespace": "certificates"}, {"source": "mirror", "namespace": "certificates"}),
    ],
)
def test_what_is_left_out_is_as_recommended(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """An operator is subscribed to as its declaration recommends for the release, but for what the settings give."""
    wanted = parse(changed("redpaper-today", operators={"cert_manager": given}), "test").operators.cert_manager
    assert wanted
    assert {**expected, **given}.items() <= wanted.model_dump().items()


@pytest.mark.parametrize(
    ("stack", "given", "expected"),
    [
        ("dev", {}, "operators: cert_manager.channel is missing, … OpenShift 4.4 … add one"),
        ("supermicro-3.11", {}, "operators: cert_manager: … Kubernetes 1.13, … OpenShift 3.11 … leave it out, … 4.4"),
        ("redpaper-today", {"chanel": "x"}, "operators.cert_manager.chanel: …; did you mean channel?"),
        (
            "redpaper-today",
            {"namespace": "openshift-config"},
            "operators.cert_manager.namespace openshift-config …; give",
        ),
    ],
)
def test_what_is_wrong_is_named(stack: str, given: dict[str, Any], expected: str) -> None:
    """An unknown channel, an old release, an unknown field and a namespace in use are refused by path."""
    expect_refusal(changed(stack, operators={"cert_manager": given}), expected)


def test_two_settings_install_no_operator_twice() -> None:
    """Two operators in one namespace are refused, as both would create it."""
    given = changed("prod", operators={"cert_manager": {"namespace": "openshift-kueue-operator"}})
    expect_refusal(given, "operators.cert_manager.namespace … queues.operator.namespace: …; give each its own")


@pytest.mark.parametrize("name", ADDED)
def test_every_operator_is_installed(name: str) -> None:
    """Each operator of the settings has its subscription, from the channel of the release."""
    recommended = ADDED[name].recommended
    assert recommended
    declared = every_operator()
    subscribed = [item.inputs["metadata"]["name"] for item in of_kind(declared, "Subscription")]
    assert ADDED[name].package in subscribed, f"declare operators.{name} in added() of stacks/layers/operators.py"
    found = spec(declared, "Subscription", ADDED[name].package)
    assert (found["channel"], found["source"]) == (
        recommended.channels[data("redpaper-today")["release"]],
        recommended.source,
    )


def test_every_instance_comes_after_its_operator() -> None:
    """An operator's own object comes after the version that brings its kind, and is awaited."""
    recorded = {item.urn: item for item in every_operator()}
    for operator in ADDED.values():
        if operator.instance is None or operator.recommended is None:
            continue
        instance = only_object(recorded.values(), operator.instance.kind.kind)
        versions = of_kind(before(instance, recorded), "ClusterServiceVersionPatch")
        assert operator.recommended.namespace in [each.inputs["metadata"]["namespace"] for each in versions]
        assert WAIT_FOR in instance.inputs["metadata"]["annotations"]


def test_instances_have_the_shape_of_their_definitions() -> None:
    """Operators' own objects match what the operators publish."""
    expect_conformity(*(each for each in manifests(every_operator()) if is_of(each, *INSTANCES)))
