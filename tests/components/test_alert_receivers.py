"""Who is notified of alerts."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.alert_receivers import AlertReceivers, AlertReceiversArgs, spec
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only

KEY = {"name": "alerting", "key": "value"}
RECEIVERS: tuple[dict[str, Any], ...] = (
    {"kind": "email", "to": "a@example.com", "sender": "b@example.com", "server": "mail.example.com:587"},
    {"kind": "slack", "channel": "#gpus", "url": KEY},
    {"kind": "pagerduty", "routing_key": KEY},
    {"kind": "webhook", "url": KEY},
    {
        "kind": "email",
        "to": "c@example.com",
        "sender": "b@example.com",
        "server": "mail.example.com:587",
        "username": "b",
        "password": KEY,
    },
)


def config(**changed: Any) -> Manifest:
    """Return the object."""
    args = AlertReceiversArgs.model_validate({"namespace": "adas", "receivers": RECEIVERS, **changed})
    found = declared(lambda: AlertReceivers("alerts", args))
    assert faults(found) == []
    return only(found, "AlertmanagerConfig")


def test_it_has_the_shape_of_its_definition() -> None:
    """The object matches the definition of v1beta1."""
    expect_conformity(config())


def test_all_receivers_are_told() -> None:
    """Two receivers of one kind both get every alert."""
    (receiver,) = config()["spec"]["receivers"]
    assert [mail["to"] for mail in receiver["emailConfigs"]] == ["a@example.com", "c@example.com"]
    assert receiver.keys() == {"name", "emailConfigs", "slackConfigs", "pagerdutyConfigs", "webhookConfigs"}
    assert config()["spec"]["route"]["receiver"] == receiver["name"]


def test_secrets_are_named_and_never_written() -> None:
    """Keys of receivers are references to Secrets."""
    (receiver,) = config()["spec"]["receivers"]
    assert receiver["slackConfigs"][0]["apiURL"] == receiver["pagerdutyConfigs"][0]["routingKey"] == KEY
    assert receiver["emailConfigs"][1]["authPassword"] == KEY


def test_only_the_wanted_severities_are_sent() -> None:
    """Only alerts of the requested severities are sent."""
    args = AlertReceiversArgs.model_validate(
        {"namespace": "adas", "receivers": RECEIVERS[2:3], "severities": ("critical",)}
    )
    assert spec(args)["route"]["matchers"] == [{"name": "severity", "matchType": "=~", "value": "critical"}]


@pytest.mark.parametrize(
    "wrong",
    [
        (),
        ({"kind": "pigeon"},),
        ({**RECEIVERS[0], "to": "nobody"},),
        ({**RECEIVERS[0], "server": "mail.example.com"},),
        ({**RECEIVERS[0], "username": "b"},),
        ({"kind": "slack", "channel": "gpus", "url": KEY},),
        ({"kind": "slack", "channel": "#gpus", "url": "https://hooks.example.com/x"},),
    ],
)
def test_receivers_that_reach_nobody_are_refused(wrong: tuple[Any, ...]) -> None:
    """Receivers without an address, or with a key in the settings, are refused."""
    with pytest.raises(ValidationError):
        AlertReceiversArgs.model_validate({"namespace": "adas", "receivers": wrong})
