"""Which cluster a stack belongs to: noted, named in settings, and another one."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.support.messages import has
from tests.support.states import stored, with_cluster
from toolkit.cli.shared import identity
from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.identity import SERVER, UID, ForeignClusterError, Identity
from toolkit.cli.shared.stack import Stack, read

HERE = Identity("11111111-2222-3333-4444-555555555555", "https://api.here:6443")
ELSEWHERE = Identity("99999999-2222-3333-4444-555555555555", "https://api.elsewhere:6443")
OBJECT = {"resources": [{"urn": "urn:pulumi:dev::hpc::x::y"}]}


class Asked:
    """A cluster that records its requests."""

    def __init__(self, found: Identity | Problem) -> None:
        self.context, self.found, self.paths = "admin", found, list[str]()

    @property
    def server(self) -> str:
        """Return its address."""
        assert isinstance(self.found, Identity)
        return self.found.server

    def get(self, path: str) -> dict[str, Any]:
        """Answer kube-system."""
        self.paths.append(path)
        if isinstance(self.found, Problem):
            raise self.found
        return {"metadata": {"uid": self.found.uid}}


class Tagging:
    """An engine that knows `stack tag` only."""

    def __init__(self, tags: Mapping[str, str] | None = None) -> None:
        self.tags, self.stack = None if tags is None else dict(tags), "dev"

    def call(self, *words: str) -> str:
        """Set and list tags."""
        match words:
            case ("stack", "tag", "set", name, value, "--stack", "dev"):
                self.tags = {**(self.tags or {}), name: value}
                return ""
            case ("stack", "tag", "ls", "--json", "--stack", "dev") if self.tags is not None:
                return json.dumps(self.tags)
            case _:
                raise Problem("`pulumi stack tag ls` failed:\nerror: no stack named 'dev' found")


def _stack(*, uid: str | None = None, simulated: bool = False) -> Stack:
    return with_cluster(read("dev"), uid=uid, simulated=simulated)


def _backend(folder: Path, noted: Identity | None, latest: Mapping[str, Any]) -> Backend:
    return stored(folder, latest, {UID: noted.uid, SERVER: noted.server} if noted else {})


def _require(
    stack: Stack, asked: Asked, backend: Backend | None, engine: Tagging | None = None
) -> identity.ClusterMatch:
    return identity.require(stack, cast("Cluster", asked), backend, cast("Engine | None", engine))


def test_the_first_update_notes_its_cluster_and_says_how_the_settings_name_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first update records the cluster's UID and server, and prints the setting that names it."""
    asked, engine = Asked(HERE), Tagging()
    standing = _require(_stack(), asked, _backend(tmp_path, None, {}))
    assert asked.paths == ["/api/v1/namespaces/kube-system"]
    identity.record(_stack(), cast("Engine", engine), standing)
    assert engine.tags == {UID: HERE.uid, SERVER: HERE.server}
    printed = capsys.readouterr().out
    assert f"      uid: {HERE.uid}\n" in printed
    assert "    cluster:" not in printed, "a second key `cluster:`, which would replace the first"


@pytest.mark.parametrize("stack", [_stack(simulated=True), _stack(uid=HERE.uid)])
def test_no_setting_is_suggested_where_none_is_needed(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    """No setting is suggested for a simulated cluster, which is created again, nor where the settings have it."""
    identity.record(stack, cast("Engine", Tagging()), identity.ClusterMatch(HERE, None))
    assert capsys.readouterr().out == ""


def test_the_same_cluster_is_noted_once(tmp_path: Path) -> None:
    """A cluster that is recorded already is not recorded again."""
    standing = _require(_stack(), Asked(HERE), _backend(tmp_path, HERE, OBJECT))
    engine = Tagging()
    identity.record(_stack(), cast("Engine", engine), standing)
    assert engine.tags is None


def test_the_same_cluster_at_another_url_is_reported_and_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same cluster at another URL is recorded with the new one, with a message."""
    standing = _require(_stack(), Asked(HERE), _backend(tmp_path, replace(HERE, server="https://old:6443"), OBJECT))
    engine = Tagging()
    identity.record(_stack(), cast("Engine", engine), standing)
    assert engine.tags == {UID: HERE.uid, SERVER: HERE.server}
    assert f"is now at {HERE.server}" in capsys.readouterr().out


@pytest.mark.parametrize("latest", [OBJECT, {"pending_operations": [{}]}])
def test_another_cluster_than_the_state_is_about_is_refused(tmp_path: Path, latest: Mapping[str, Any]) -> None:
    """A command is refused on another cluster than that of the stack's state."""
    asked = Asked(ELSEWHERE)
    with pytest.raises(ForeignClusterError) as refused:
        _require(_stack(), asked, _backend(tmp_path, HERE, latest))
    text = str(refused.value)
    assert str(HERE) in text
    assert str(ELSEWHERE) in text
    assert f"./hpc state accept-cluster --stack dev {ELSEWHERE.uid}" in text
    assert asked.paths == ["/api/v1/namespaces/kube-system"]


def test_a_state_about_nothing_belongs_to_no_cluster(tmp_path: Path) -> None:
    """A state without objects belongs to no cluster, so its stack may go to another one."""
    standing = _require(_stack(), Asked(ELSEWHERE), _backend(tmp_path, HERE, {"resources": None}))
    engine = Tagging()
    identity.record(_stack(), cast("Engine", engine), standing)
    assert engine.tags == {UID: ELSEWHERE.uid, SERVER: ELSEWHERE.server}


def test_another_cluster_than_the_settings_name_is_refused_at_once(tmp_path: Path) -> None:
    """Another cluster than the settings name is refused before the first update."""
    with pytest.raises(ForeignClusterError, match=rf"name {HERE.uid} \(cluster.uid in Pulumi.dev.yaml\)"):
        _require(_stack(uid=HERE.uid), Asked(ELSEWHERE), _backend(tmp_path, None, {}))


def test_settings_do_not_outvote_the_state(tmp_path: Path) -> None:
    """Settings that name another cluster than the state's do not permit it."""
    with pytest.raises(ForeignClusterError, match="its state names"):
        _require(_stack(uid=ELSEWHERE.uid), Asked(ELSEWHERE), _backend(tmp_path, HERE, OBJECT))


def test_a_simulated_cluster_names_its_own_remedy(tmp_path: Path) -> None:
    """For a simulated cluster the remedy is to clean it, not to accept the other one."""
    with pytest.raises(ForeignClusterError, match="sim clean --name"):
        _require(_stack(simulated=True), Asked(ELSEWHERE), _backend(tmp_path, HERE, OBJECT))


@pytest.mark.parametrize(("noted", "error"), [(HERE, ForeignClusterError), (None, RefusedError)])
def test_a_cluster_that_will_not_say_who_it_is(tmp_path: Path, noted: Identity | None, error: type[Problem]) -> None:
    """A cluster that refuses to identify itself is refused, as another one where the state names one."""
    refusal = RefusedError("the API server refuses", "Log in.", "403")
    with pytest.raises(error) as raised:
        _require(_stack(), Asked(refusal), _backend(tmp_path, noted, OBJECT))
    assert type(raised.value) is error


def test_a_cluster_that_cannot_be_reached_is_no_other_one(tmp_path: Path) -> None:
    """A cluster that cannot be reached is an error, and not another cluster."""
    with pytest.raises(Problem, match="does not answer") as raised:
        _require(_stack(), Asked(Problem("does not answer")), _backend(tmp_path, HERE, OBJECT))
    assert type(raised.value) is Problem


def test_where_the_state_cannot_be_read_the_engines_tags_are() -> None:
    """Where the state cannot be read here, the cluster's tags are read from the engine."""
    assert _require(_stack(), Asked(HERE), None, Tagging()).noted is None
    assert _require(_stack(), Asked(HERE), None, Tagging({UID: HERE.uid, SERVER: HERE.server})).noted == HERE
    with pytest.raises(ForeignClusterError):
        _require(_stack(), Asked(ELSEWHERE), None, Tagging({UID: HERE.uid}))
    assert _require(_stack(), Asked(ELSEWHERE), None).noted is None


def test_another_cluster_is_accepted_by_its_name_only() -> None:
    """Another cluster is accepted by its UID only, so that no script accepts every one."""
    engine = Tagging({UID: HERE.uid, SERVER: HERE.server})
    asked = cast("Cluster", Asked(ELSEWHERE))
    with pytest.raises(ForeignClusterError, match=f"leads to the cluster {ELSEWHERE}, not to {HERE.uid}"):
        identity.accept(_stack(), cast("Engine", engine), asked, HERE.uid)
    with pytest.raises(ForeignClusterError, match="Change it there first"):
        identity.accept(_stack(uid=HERE.uid), cast("Engine", engine), asked, ELSEWHERE.uid)
    assert engine.tags == {UID: HERE.uid, SERVER: HERE.server}
    identity.accept(_stack(), cast("Engine", engine), asked, ELSEWHERE.uid)
    assert engine.tags == {UID: ELSEWHERE.uid, SERVER: ELSEWHERE.server}


def test_what_is_no_cluster_has_no_identity() -> None:
    """An address that answers and is not an API server is an error with one message."""
    nothing = cast("Cluster", SimpleNamespace(context="admin", server="https://x", get=lambda _: None))
    with pytest.raises(RefusedError, match="no namespace kube-system"):
        identity.read(nothing)


def _kept_in(monkeypatch: pytest.MonkeyPatch, backend: Backend) -> Stack:
    monkeypatch.setattr(Stack, "backend", backend)
    return _stack()


def test_what_is_read_of_another_cluster_is_refused_or_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Commands that judge jobs are refused on another cluster; those that show objects warn."""
    stack = _kept_in(monkeypatch, _backend(tmp_path, HERE, OBJECT))
    with pytest.raises(ForeignClusterError):
        identity.require_unless_forbidden(stack, cast("Cluster", Asked(ELSEWHERE)))
    identity.warn_if_foreign(stack, cast("Cluster", Asked(ELSEWHERE)))
    printed = capsys.readouterr().err
    assert has(printed, "warning", "not the cluster", "stack dev")
    assert "nothing was read" not in printed
    identity.require_unless_forbidden(stack, cast("Cluster", Asked(HERE)))
    identity.warn_if_foreign(stack, cast("Cluster", Asked(HERE)))
    assert capsys.readouterr().err == ""


def test_an_account_of_one_namespace_may_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An account that may not read kube-system may read where nothing names the stack of the cluster."""
    refusal = cast("Cluster", Asked(RefusedError("the API server refuses", "Log in.", "403")))
    stack = _kept_in(monkeypatch, _backend(tmp_path, None, {}))
    identity.require_unless_forbidden(stack, refusal)
    identity.warn_if_foreign(stack, refusal)
    assert capsys.readouterr().err == ""


def test_a_remedy_names_the_stack_in_every_command() -> None:
    """A remedy's command names the stack."""
    stack = replace(_stack(), name="prod")
    with pytest.raises(ForeignClusterError) as refused:
        _require(
            stack, Asked(ELSEWHERE), None, cast("Any", SimpleNamespace(call=lambda *_: json.dumps({UID: HERE.uid})))
        )
    assert str(refused.value).count("--stack prod") == str(refused.value).count("./hpc ") == 3


@pytest.mark.parametrize(("owner", "refused"), [("provider::1", True), ("other::1", False)])
def test_another_identifier_is_refused_while_the_stack_has_objects(tmp_path: Path, owner: str, refused: bool) -> None:
    """Another cluster.identifier is refused while the stack has objects, each of which would be replaced."""
    provider = {"urn": "provider", "id": "1", "type": "pulumi:providers:kubernetes"}
    resources = [{**provider, "inputs": {"clusterIdentifier": "before"}}, {"urn": "object", "provider": owner}]
    backend = _backend(tmp_path, HERE, {"resources": resources})
    if not refused:
        assert _require(_stack(), Asked(HERE), backend, Tagging()).present == HERE
        return
    with pytest.raises(Problem) as raised:
        _require(_stack(), Asked(HERE), backend, Tagging())
    assert _require(_stack(), Asked(HERE), backend).present == HERE, "a command that runs no engine"
    assert f"cluster.identifier is {_stack().settings.cluster.identifier!r} in Pulumi.dev.yaml" in str(raised.value)
    assert "Write `identifier: before` again." in str(raised.value)
