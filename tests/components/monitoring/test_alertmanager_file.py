"""The file of the cluster's own Alertmanager, by amtool."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from components.monitoring.alert_receivers import Routing, text
from tests.support import debian

KEY = {"name": "alerting", "key": "value"}
MAIL = {"kind": "email", "to": "a@example.com", "sender": "b@example.com", "server": "mail.example.com:587"}
READ_BY_0_25: tuple[dict[str, Any], ...] = (
    MAIL,
    {**MAIL, "to": "c@example.com", "username": "b", "password": KEY},
    {"kind": "slack", "channel": "#gpus", "url": KEY},
    {"kind": "pagerduty", "routing_key": KEY},
)
"""Debian 12 has Alertmanager 0.25, which does not know url_file of a webhook."""


def written(*receivers: dict[str, Any], **changed: Any) -> str:
    """Return the file."""
    return text(Routing.model_validate({"receivers": receivers, **changed}), ["GpuTooHot", "GpuMissing"])


def amtool(folder: Path, content: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Run amtool's `command` over the file."""
    file = folder / "alertmanager.yaml"
    file.write_text(content)
    return subprocess.run(
        [debian.program("amtool"), *(str(file) if each == "FILE" else each for each in command)],
        env=debian.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("receivers", [READ_BY_0_25, *((each,) for each in READ_BY_0_25)])
def test_alertmanager_reads_it(receivers: tuple[dict[str, Any], ...], tmp_path: Path) -> None:
    """The program accepts the file with each receiver, and with all of them."""
    found = amtool(tmp_path, written(*receivers), "check-config", "FILE")
    assert found.returncode == 0, found.stdout + found.stderr


def test_amtool_refuses_what_alertmanager_does(tmp_path: Path) -> None:
    """The check can fail: a route to a receiver that is not there is refused."""
    wrong = written(MAIL).replace("receiver: hpc", "receiver: nobody")
    assert amtool(tmp_path, wrong, "check-config", "FILE").returncode != 0


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("alertname=GpuTooHot", "severity=critical"), "hpc"),
        (("alertname=GpuTooHot", "severity=info"), "Default"),
        (("alertname=Watchdog", "severity=none"), "Default"),
        (("alertname=GpuTooHotter", "severity=critical"), "Default"),
    ],
)
def test_only_our_alerts_of_the_severities_are_sent(labels: tuple[str, ...], expected: str, tmp_path: Path) -> None:
    """Alertmanager's own routing sends the stack's alerts to the receivers, and no others."""
    content = written(MAIL, severities=("critical", "warning"))
    found = amtool(tmp_path, content, "config", "routes", "test", "--config.file", "FILE", *labels)
    assert found.stdout.strip() == expected, found.stderr


def test_secrets_are_names_of_files() -> None:
    """Each secret stands in the file as the place where Alertmanager has the Secret's value."""
    _, ours = yaml.safe_load(written(*READ_BY_0_25, {"kind": "webhook", "url": KEY}))["receivers"]
    file = "/etc/alertmanager/secrets/alerting/value"
    assert ours["email_configs"][1]["auth_password_file"] == file
    assert ours["slack_configs"][0]["api_url_file"] == file
    assert ours["pagerduty_configs"] == [{"routing_key_file": file}]
    assert ours["webhook_configs"] == [{"url_file": file}]


@pytest.mark.parametrize(
    "wrong",
    [
        (),
        ({"kind": "pigeon"},),
        ({**MAIL, "to": "nobody"},),
        ({**MAIL, "server": "mail.example.com"},),
        ({**MAIL, "username": "b"},),
        ({"kind": "slack", "channel": "gpus", "url": KEY},),
        ({"kind": "slack", "channel": "#gpus", "url": "https://hooks.example.com/x"},),
    ],
)
def test_receivers_without_an_address_are_refused(wrong: tuple[Any, ...]) -> None:
    """Receivers that no alert can reach, or that have a key in the settings, are refused."""
    with pytest.raises(ValidationError):
        Routing.model_validate({"receivers": wrong})
