"""Marks that make an update apply something again, and what the server is asked before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from cli.live import Cluster, RefusedError
from cli.reviewing import repairs
from cli.reviewing.repairs import UNCONFIRMED, Answer
from review.model import Resource

ROLE_BINDING = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
IMMUTABLE = '422, RoleBinding "mpi" is invalid: roleRef: cannot change roleRef.\n  more'


@dataclass
class _Server:
    """A server with one object, which refuses what it is told to."""

    found: dict[str, Any] | None
    reason: str = ""
    asked: list[Mapping[str, Any]] = field(default_factory=list)

    def find(self, *_: str) -> dict[str, Any] | None:
        return self.found

    def tried(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(body)
        if self.reason:
            raise RefusedError("no", "", self.reason)
        return body


def _asked(server: _Server, inputs: Mapping[str, Any], kind: str = ROLE_BINDING) -> Answer:
    return repairs.asked(Resource("u", kind, inputs), cast("Cluster", server))


def test_what_the_server_refuses_is_not_applied() -> None:
    """Prevents a mark that no update can follow: from then on every `up` and every preview of the stack fails."""
    declared = {"metadata": {"name": "mpi", "namespace": "a"}, "roleRef": {"name": "mpi"}}
    server = _Server({**declared, "roleRef": {"name": "view"}}, IMMUTABLE)
    answer = _asked(server, declared)
    assert answer.refused == 'RoleBinding "mpi" is invalid: roleRef: cannot change roleRef'
    assert server.asked[0]["roleRef"] == {"name": "mpi"}


@pytest.mark.parametrize("reason", ["403, you may not", "500, an admission webhook does not answer"])
def test_a_server_that_does_not_say_is_no_refusal(reason: str) -> None:
    """Prevents drift that stays for ever, because the person may update an object and not replace it."""
    assert _asked(_Server({"metadata": {}}, reason), {"metadata": {}}) == Answer()


def test_what_others_have_added_is_taken_away() -> None:
    """Prevents a key that stays in a ConfigMap: an update owns its own keys only and leaves those of others."""
    body = {"metadata": {"uid": "1"}, "data": {"k": "2", "more": "x"}}
    config_map = "kubernetes:core/v1:ConfigMap"
    assert _asked(_Server(body), {"data": {"k": "1"}}, config_map).body == {**body, "data": {"k": "1"}}
    assert _asked(_Server({"data": {"k": "2"}}), {"data": {"k": "1"}}, config_map).body is None


def test_what_nobody_is_asked_about() -> None:
    """Prevents an update of a node by hand, where a patch has one of its labels, and of what has gone meanwhile."""
    server = _Server({"metadata": {}})
    assert _asked(server, {"metadata": {}}, "kubernetes:core/v1:NodePatch") == Answer()
    assert not server.asked
    assert _asked(_Server(None), {"metadata": {}}).gone


def test_marks_come_and_go() -> None:
    """Prevents a mark that stays in the state, and one that takes another's reason to wait with it."""
    leaving = {"urn": "a", "delete": True}
    before: list[dict[str, Any]] = [{"urn": "a"}, leaving, {"urn": "b", "initErrors": ["not ready"]}, {"urn": "c"}]
    document = {"deployment": {"resources": [dict(each) for each in before]}}
    found = repairs.marked(document, {"a", "b"})["deployment"]["resources"]
    assert [each.get("initErrors") for each in found] == [[UNCONFIRMED], None, ["not ready", UNCONFIRMED], None]
    assert repairs.marked(document, {"a"})["deployment"]["resources"][0]["initErrors"] == [UNCONFIRMED]
    cleared = repairs.unmarked(document)
    assert cleared is not None
    assert cleared["deployment"]["resources"] == before
    assert repairs.unmarked(cleared) is None
    assert repairs.unmarked({"deployment": None}) is None
