"""What a repair re-applies, what it leaves, and what it checks with the server before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.support.commands import finished
from toolkit.cli.diff import engine_reviews
from toolkit.cli.drift import command, repairs
from toolkit.cli.drift.repairs import Left, Repair
from toolkit.cli.shared import session
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.review.model import Change, Op, Resource, Review

ROLE_BINDING = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
IMMUTABLE = '422, RoleBinding "mpi" is invalid: roleRef: cannot change roleRef.\n  more'
RESOURCE = Resource("urn:x::mpi", "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding", {"metadata": {"name": "mpi"}})


@dataclass
class _Server:
    """A server with one object, which refuses what it is given to refuse."""

    found: dict[str, Any] | None
    reason: str = ""
    asked: list[Mapping[str, Any]] = field(default_factory=list)

    def find(self, *_: str) -> dict[str, Any] | None:
        return self.found

    def dry_run(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(body)
        if self.reason:
            raise RefusedError("no", "", self.reason)
        return body


def _refused(server: _Server, inputs: Mapping[str, Any], kind: str = ROLE_BINDING) -> str:
    return repairs.refused(Resource("u", kind, inputs), cast("Cluster", server))


def test_what_the_server_refuses_is_known_before() -> None:
    """A dry run finds which drifted object the API server would refuse, with its reason."""
    declared = {"metadata": {"name": "mpi", "namespace": "a"}, "roleRef": {"name": "mpi"}}
    server = _Server({**declared, "roleRef": {"name": "view"}}, IMMUTABLE)
    assert _refused(server, declared) == 'RoleBinding "mpi" is invalid: roleRef: cannot change roleRef'
    assert server.asked[0]["roleRef"] == {"name": "mpi"}


@pytest.mark.parametrize("reason", ["403, you may not", "500, an admission webhook does not answer"])
def test_a_server_that_does_not_say_is_no_refusal(reason: str) -> None:
    """A right that is missing, or a webhook that does not answer, is not a refusal of the object."""
    assert _refused(_Server({"metadata": {}}, reason), {"metadata": {}}) == ""


def test_what_is_not_sent_to_the_server() -> None:
    """Patches, and objects that are gone, are not sent to the API server."""
    server = _Server({"metadata": {}})
    assert _refused(server, {"metadata": {}}, "kubernetes:core/v1:NodePatch") == ""
    assert not server.asked
    assert _refused(_Server(None), {"metadata": {}}) == ""


def _drifted(name: str, declared: Mapping[str, Any], seen: Mapping[str, Any] | None, kind: str = CONFIG_MAP) -> Change:
    metadata = {"name": name, "namespace": "a"}
    before = Resource(name, kind, {"metadata": metadata, **declared})
    if seen is None:
        return Change(Op.DELETE, before, None)
    live = {"metadata": metadata, **seen}
    return Change(Op.UPDATE, before, Resource(name, kind, live, live=live))


GONE = _drifted("gone", {}, None)
CHANGED = _drifted("changed", {"data": {"k": "1"}}, {"data": {"k": "2"}})
ADDED = _drifted("added", {"data": {"k": "1"}}, {"data": {"k": "1", "more": "x"}})
BOTH = _drifted("both", {"data": {"k": "1"}}, {"data": {"k": "2", "more": "x"}})


def _sorted_out(*changes: Change, refusal: str = "", agreed: tuple[str, ...] = ()) -> Repair:
    return repairs.sort_out(Review("dev", changes, drift=True), lambda _: refusal, agreed)


def test_what_others_added_is_left() -> None:
    """Additions of other owners are left, with the command that removes them."""
    found = _sorted_out(GONE, CHANGED, ADDED, BOTH)
    assert found.again == (GONE, CHANGED, BOTH)
    assert found.targets == ["--target", "gone", "--target", "changed", "--target", "both"]
    command = """kubectl -n a patch configmap {} --type json -p '[{{"op":"remove","path":"/data/more"}}]'"""
    assert found.left == (Left(ADDED.resource, "others added data.more", command.format("added")),)
    assert found.added == ((BOTH.resource, "data.more"),)


def test_what_is_refused_needs_the_users_consent() -> None:
    """An object that the API server refuses is left unless the user names it for a replacement."""
    found = _sorted_out(GONE, CHANGED, refusal="immutable")
    assert found.again == (GONE,)
    (left,) = found.left
    assert (left.why, left.replaceable) == ("the API server refuses: immutable", True)
    assert left.command == "kubectl -n a delete configmap changed"
    assert _sorted_out(CHANGED, refusal="immutable", agreed=("ConfigMap/a/changed",)).again == (CHANGED,)


def test_a_replacement_of_what_has_not_drifted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is none of a drifted object is refused, with the form of names."""
    stack = cast("Stack", SimpleNamespace(backend=None, options="--stack dev"))
    monkeypatch.setattr(engine_reviews, "drift", lambda *_: Review("dev", (CHANGED,), drift=True))
    with pytest.raises(Problem, match=r"names what has not drifted: Role/a/b\nGive names as KIND/NAMESPACE/NAME"):
        repairs.proposed(stack, cast("Engine", None), cast("Cluster", None), ("ConfigMap/a/changed", "Role/a/b"))


def test_what_the_preview_would_replace_is_left() -> None:
    """An object that the engine would replace is left unless the user names it."""
    repair = Repair((GONE, CHANGED, BOTH))
    operations = {"gone": "create", "changed": "replace", "both": "update"}
    found = repairs.held(repair, operations, {}, ())
    assert found.again == (GONE, BOTH)
    assert found.left == (Left(CHANGED.resource, "it would be replaced", replaceable=True),)
    assert repairs.held(repair, operations, {}, ("ConfigMap/a/changed",)).again == (GONE, CHANGED, BOTH)


def test_what_cannot_be_done_does_not_stop_the_rest() -> None:
    """An object whose preview fails is left with the reason; the others are repaired."""
    found = repairs.held(Repair((GONE, CHANGED, BOTH)), {"gone": "create"}, {"changed": "it is protected"}, ())
    assert found.again == (GONE,)
    assert [each.why for each in found.left] == ["it is protected", "the provider sees no difference in it"]


def test_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """What is repaired, and what is left with its remedy, is printed first."""
    again = _sorted_out(GONE, CHANGED, ADDED, BOTH)
    repairs.show(again, "--stack dev")
    repairs.show(_sorted_out(CHANGED, refusal="immutable"), "--stack dev")
    repairs.show(Repair(()), "--stack dev")
    said = capsys.readouterr().out
    for words in (
        "repair: ConfigMap a/gone is gone, and is created again\n",
        "repair: ConfigMap a/changed: data.k\n",
        "not repaired: ConfigMap a/added: others added data.more\n  remove it: kubectl -n a patch configmap added",
        "with it: ConfigMap a/both: others added data.more, which the update may remove as well\n",
        "replace it: ./hpc up --stack dev --repair --replace ConfigMap/a/changed\n  or delete it: kubectl",
        "nothing has drifted\n",
    ):
        assert words in said


def test_options_that_do_not_fit() -> None:
    """A repair and a plan exclude each other, and --replace needs --repair."""
    repairs.require_possible("--stack dev", repair=True, replace=["A/b"], plan=None)
    repairs.require_possible("--stack dev", repair=False, replace=None, plan=Path("p"))
    with pytest.raises(Problem, match=r"--plan and --repair: .*\nRun `./hpc up --stack dev --repair` first"):
        repairs.require_possible("--stack dev", repair=True, replace=None, plan=Path("p"))
    with pytest.raises(Problem, match="Add --repair"):
        repairs.require_possible("--stack dev", repair=False, replace=["A/b"], plan=None)


def test_repairs_are_shown_and_not_made(dev: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --repairs the drift is followed by what a repair would leave, in place of the command that repairs."""
    review = Review(dev.name, (Change(Op.DELETE, RESOURCE, None),))
    proposed: list[Any] = []
    monkeypatch.setattr(command, "_reviewed", lambda _: review)
    monkeypatch.setattr(session, "engine", lambda _: None)
    monkeypatch.setattr(session, "cluster", lambda _: None)

    def propose(*given: object) -> Repair:
        proposed.append(given)
        return Repair((), left=(Left(RESOURCE, "the API server refuses it"),))

    monkeypatch.setattr(repairs, "proposed", propose)
    status, printed = finished(command.command, "--stack", "dev")
    assert (status, len(proposed), "--repair` re-applies" in printed) == (command.DRIFTED, 0, True)
    status, printed = finished(command.command, "--stack", "dev", "--repairs")
    assert (status, len(proposed)) == (command.DRIFTED, 1)
    assert "not repaired: RoleBinding mpi: the API server refuses it" in printed
