"""Alerts of a suite, sent to an Alertmanager, which has the receivers: mail, Slack and others."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import requests
from requests.auth import AuthBase

from core.wording import plural
from toolkit.cli.shared.errors import Problem

TOKEN = "HPC_ALERTMANAGER_TOKEN"  # noqa: S105 - the name of a variable
_PATH = "/api/v2/alerts"
_SECONDS = 20.0


class _Bearer(AuthBase):
    """The token of the environment, if any; as `auth`, so that no entry of a .netrc takes its place."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if token := os.environ.get(TOKEN):
            request.headers["Authorization"] = f"Bearer {token}"
        return request


def send(url: str, alerts: Sequence[Mapping[str, Any]]) -> str:
    """Send alerts, and return what was sent; raise Problem where no Alertmanager takes them."""
    try:
        answer = requests.post(f"{url.rstrip('/')}{_PATH}", json=alerts, auth=_Bearer(), timeout=_SECONDS)
    except requests.RequestException as error:
        raise Problem(
            f"--alertmanager {url} does not answer: {type(error).__name__}", "See whether it can be reached from here."
        ) from None
    if not answer.ok:
        raise Problem(
            f"--alertmanager {url} answers {answer.status_code}",
            f"Give its address without a path, and in {TOKEN} a token where it wants one (`oc whoami -t`).",
        )
    firing = sum(alert["endsAt"] > alert["startsAt"] for alert in alerts)
    return f"{plural(firing, 'alert')} sent to {url}, and {len(alerts) - firing} ended"
