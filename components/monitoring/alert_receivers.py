"""Receivers of the platform's alerts (e-mail, Slack, PagerDuty or a webhook), and Alertmanager's file with them."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import Field, StringConstraints, model_validator

from components.base.model import DnsName, Model, Seconds
from components.monitoring.alerts import Severity

Address = Annotated[str, StringConstraints(pattern=r"^[^@\s,]+@[^@\s,]+$")]
HostAndPort = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.-]*:[0-9]{1,5}$")]


class SecretKey(Model):
    """A value in a Secret of the same namespace; the program does not know it."""

    name: DnsName = Field(description="name of the Secret")
    key: str = Field(min_length=1, pattern=r"^[-._a-zA-Z0-9]+$", description="key of the value in it")

    @property
    def file(self) -> str:
        """Where the cluster's Alertmanager has it: with the Secret among alertmanagerMain.secrets of its settings."""
        return f"/etc/alertmanager/secrets/{self.name}/{self.key}"


class Email(Model):
    """An email to one address."""

    kind: Literal["email"] = "email"
    to: Address = Field(description="recipient")
    sender: Address = Field(description="sender")
    server: HostAndPort = Field(description="host:port of the mail server")
    username: str | None = Field(default=None, description="account at the server; None: it needs none")
    password: SecretKey | None = None

    @model_validator(mode="after")
    def _both_or_none(self) -> Self:
        if (self.username is None) != (self.password is None):
            raise ValueError("username and password go together; give both or none")
        return self

    def entry(self) -> dict[str, Any]:
        """Return the receiver's field in the file alertmanager.yaml, and its only entry."""
        account = {"auth_username": self.username, "auth_password_file": self.password.file} if self.password else {}
        mail = {"to": self.to, "from": self.sender, "smarthost": self.server, "require_tls": True, **account}
        return {"email_configs": [mail]}


class Slack(Model):
    """A message in a channel."""

    kind: Literal["slack"] = "slack"
    channel: str = Field(pattern=r"^[#@].+$", description="#channel or @user")
    url: SecretKey = Field(description="address of the incoming webhook")

    def entry(self) -> dict[str, Any]:
        """Return the receiver's field in the file alertmanager.yaml, and its only entry."""
        return {"slack_configs": [{"channel": self.channel, "api_url_file": self.url.file, "send_resolved": True}]}


class PagerDuty(Model):
    """An incident; PagerDuty sends text messages, too."""

    kind: Literal["pagerduty"] = "pagerduty"
    routing_key: SecretKey = Field(description="key of an integration with the Events API v2")

    def entry(self) -> dict[str, Any]:
        """Return the receiver's field and its only entry, as Alertmanager 0.25 reads it."""
        return {"pagerduty_configs": [{"routing_key_file": self.routing_key.file}]}


class Webhook(Model):
    """A POST to a URL."""

    kind: Literal["webhook"] = "webhook"
    url: SecretKey

    def entry(self) -> dict[str, Any]:
        """Return the receiver's field and its only entry; Alertmanager 0.25 has no such field yet."""
        return {"webhook_configs": [{"url_file": self.url.file}]}


class Routing(Model):
    """Who gets which alerts, and how often."""

    receivers: tuple[Annotated[Email | Slack | PagerDuty | Webhook, Field(discriminator="kind")], ...] = Field(
        min_length=1, description="all of them get every alert"
    )
    severities: tuple[Severity, ...] = Field(
        default=("critical", "warning", "info"), min_length=1, description="alerts that are sent"
    )
    repeat: Seconds = Field(default=12 * 3600, description="seconds until an alert that is still firing is sent again")


NAME = "alertmanager.yaml"
_OTHERS, _OURS = "Default", "hpc"


def text(routing: Routing, alerts: Iterable[str]) -> str:
    """Return the file: alerts of these names go to the receivers, others to no receiver. Secrets are files' names."""
    receiver: dict[str, Any] = {"name": _OURS}
    for target in routing.receivers:
        for field, entries in target.entry().items():
            receiver[field] = receiver.get(field, []) + entries
    route = {
        "receiver": _OURS,
        "matchers": [_one_of("alertname", sorted({*alerts})), _one_of("severity", routing.severities)],
        "group_by": ["alertname"],
        "repeat_interval": f"{routing.repeat}s",
    }
    content = {
        "route": {"receiver": _OTHERS, "group_by": ["namespace"], "routes": [route]},
        "inhibit_rules": [
            {
                "source_matchers": [_one_of("severity", ["critical"])],
                "target_matchers": [_one_of("severity", ["warning", "info"])],
                "equal": ["namespace", "alertname"],
            }
        ],
        "receivers": [{"name": _OTHERS}, receiver],
    }
    return yaml.safe_dump(content, sort_keys=False, width=120)


def _one_of(label: str, values: Iterable[str]) -> str:
    return f'{label}=~"{"|".join(values)}"'
