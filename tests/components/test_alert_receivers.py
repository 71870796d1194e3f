"""Who is told of alerts."""

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
    """Prevents a field of v1alpha1 in v1beta1 (regex in place of matchType)."""
    expect_conformity(config())


def test_all_receivers_are_told() -> None:
    """Prevents a second address that takes the place of the first."""
    (receiver,) = config()["spec"]["receivers"]
    assert [mail["to"] for mail in receiver["emailConfigs"]] == ["a@example.com", "c@example.com"]
    assert receiver.keys() == {"name", "emailConfigs", "slackConfigs", "pagerdutyConfigs", "webhookConfigs"}
    assert config()["spec"]["route"]["receiver"] == receiver["name"]


def test_secrets_are_named_and_never_written() -> None:
    """Prevents a key of Slack or PagerDuty in the state and in git."""
    (receiver,) = config()["spec"]["receivers"]
    assert receiver["slackConfigs"][0]["apiURL"] == receiver["pagerdutyConfigs"][0]["routingKey"] == KEY
    assert receiver["emailConfigs"][1]["authPassword"] == KEY


def test_only_the_wanted_severities_are_sent() -> None:
    """Prevents a pager that rings for an idle GPU."""
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
    """Prevents an alert that is lost, and a key in the settings."""
    with pytest.raises(ValidationError):
        AlertReceiversArgs.model_validate({"namespace": "adas", "receivers": wrong})
