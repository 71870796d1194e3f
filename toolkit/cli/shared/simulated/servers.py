"""Servers beside a simulated cluster that the commands of data ask, in place of those of the settings."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from toolkit.cli.shared.stack import Stack
from toolkit.simulator import state
from toolkit.simulator.access import accounts
from toolkit.simulator.access.accounts import Account
from toolkit.simulator.access.pki import Pki
from toolkit.simulator.home import Layout
from toolkit.simulator.state import State


class Server(NamedTuple):
    """Where a server is, who may ask it, and the certificate that it is trusted by."""

    host: str
    account: Account
    ca: Path


def server(stack: Stack, host: Callable[[State], str | None], account: Callable[[Layout], Path]) -> Server | None:
    """Return a server of a stack's simulated cluster; None for one without that server."""
    layout = Layout(stack.home)
    cluster_state, credentials = state.load(layout), accounts.read(account(layout))
    place = host(cluster_state) if cluster_state else None
    return Server(place, credentials, Pki(layout.pki).ca) if place and credentials else None
