"""What the simulated CSI driver calls: the GUI of a simulated storage cluster, over its REST interface."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests

from toolkit.simulator import state
from toolkit.simulator.access import accounts
from toolkit.simulator.access.accounts import Account
from toolkit.simulator.access.pki import Pki
from toolkit.simulator.home import Layout
from toolkit.simulator.scale_management.routes import BASE

SECONDS = 10.0
"""Until an answer: the GUI is on this machine."""
POLLS = 100


class GuiError(Exception):
    """The GUI refuses a request, or a job failed; the text is its own, without anything that was sent."""


@dataclass(frozen=True)
class Gui:
    """A GUI on loopback."""

    address: str
    account: Account
    ca: Path

    def get(self, path: str, **query: str) -> dict[str, Any]:
        """Return what a path has; raise GuiError."""
        return self._send("GET", path, None, query)

    def job(self, method: str, path: str, body: Any = None, *, done: tuple[str, ...] = (), **query: str) -> None:
        """Make a change and wait for its end; raise GuiError unless it succeeds, or fails with a code of `done`."""
        job = self._send(method, path, body, query)["jobs"][0]
        for _ in range(POLLS):
            if job["status"] != "RUNNING":
                break
            job = self.get(f"jobs/{job['jobId']}", fields=":all:")["jobs"][0]
        if job["status"] != "COMPLETED":
            why = " ".join(job["result"].get("stderr", [])) or f"is {job['status']} after {POLLS} polls"
            if not why.startswith(done or "\0"):
                raise GuiError(f"{method} {path}: {why}")

    def _send(self, method: str, path: str, body: Any, query: dict[str, str]) -> dict[str, Any]:
        try:
            answer = requests.request(
                method,
                f"https://{self.address}{BASE}/{quote(path, safe='/:')}",
                json=body,
                params=query,
                auth=(self.account.user, self.account.password),
                verify=str(self.ca),
                timeout=SECONDS,
            )
            content: dict[str, Any] = answer.json()
        except (requests.RequestException, ValueError) as error:
            raise GuiError(f"{method} {path}: {type(error).__name__}") from None
        if not answer.ok:
            raise GuiError(f"{method} {path}: {content['status']['message']}")
        return content


def of_cluster(home: Path, cluster_id: str) -> Gui | None:
    """Return the GUI beside a simulated cluster, where it is that of a storage cluster; None where there is none."""
    layout = Layout(home)
    cluster, account = state.load(layout), accounts.read(layout.scale_account)
    if cluster is None or cluster.spec.scale_gui is None or account is None:
        return None
    if cluster.spec.scale_gui.cluster_id != cluster_id:
        return None
    return Gui(str(cluster.scale_gui), account, Pki(layout.pki).ca)
