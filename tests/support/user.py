"""A user's access to a simulated cluster, which waits for what comes in time."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from core.apis import kinds
from toolkit.simulator.actors.api import Api, ApiError, Object, Server

T = TypeVar("T")


class User(Api):
    """The user's access, with patience."""

    @classmethod
    def of(cls, kubeconfig: Path) -> "User":
        """Return the administrator of a cluster."""
        server = Server(kubeconfig)
        token = server.token
        return cls(server, lambda: token, "tests")

    def eventually(self, look: Callable[[], T], what: object = "it", *, seconds: float = 300) -> T:
        """Return what `look` gives once it is true; fail when it is not within `seconds`, naming `what`."""
        until = time.monotonic() + seconds
        last: object = None
        while time.monotonic() < until:
            try:
                if last := look():
                    return last
            except ApiError as error:
                if not error.missing:
                    raise
                last = error
            time.sleep(0.05)
        raise AssertionError(f"{what} did not come true within {seconds} s; last seen: {last}")

    def never(self, look: Callable[[], object], *, seconds: float = 1.5) -> None:
        """Fail when `look` becomes true within `seconds`."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            assert not look()
            time.sleep(0.1)

    def offers(self, node: str, name: str) -> int:
        """Return how much of a resource a node has for pods."""
        return int(self.get(kinds.NODE, node)["status"]["allocatable"].get(name, "0"))

    def pods(self, namespace: str, selector: str = "") -> list[Object]:
        """Return pods by label."""
        listed: list[Object] = self.list(kinds.POD, namespace, selector)["items"]
        return listed

    def condition(self, kind: kinds.Kind, name: str, namespace: str, *names: str) -> str | None:
        """Return which of the conditions is True."""
        status = self.get(kind, name, namespace).get("status") or {}
        true_conditions = {
            condition["type"] for condition in status.get("conditions") or [] if condition["status"] == "True"
        }
        return next((expected for expected in names if expected in true_conditions), None)
