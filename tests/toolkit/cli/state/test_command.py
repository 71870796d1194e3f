"""`./hpc state` over buckets and folders, without an engine: its output, and what it refuses."""

import json
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from tests.support.states import on_real_cluster
from toolkit.cli.shared.backends import bucket_setup
from toolkit.cli.shared.backends.backend import CLUSTER_UID, Backend, of_folder, of_url
from toolkit.cli.shared.backends.bucket import open_bucket
from toolkit.cli.shared.checkpoints import access
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.cli.shared.stack import read as read_stack
from toolkit.cli.state import check, restore, rotate, selection
from toolkit.cli.state.command import app

Run = Callable[..., Any]
_KEY = ".pulumi/stacks/hpc/dev.json"
_LOCK = ".pulumi/locks/organization/hpc/dev/1.json"


@pytest.fixture
def run(sim_home: Path) -> Run:  # noqa: ARG001 - it says where clusters are
    """Give the command line."""
    return lambda *words: CliRunner().invoke(app, words)


@pytest.fixture
def stack(run: Run) -> Stack:  # noqa: ARG001 - it says where clusters are
    """Give a stack on a simulated cluster that is not there."""
    return read_stack("dev", "none")


def _state(*names: str, **more: object) -> bytes:
    resources = [{"urn": f"urn:pulumi:dev::hpc::a:b:C::{name}", "type": "a:b:C"} for name in names]
    return json.dumps({"checkpoint": {"latest": {"resources": resources, **more}}}).encode()


def _lock(backend: Backend, pid: int, host: str) -> None:
    said = {"pid": pid, "username": "me", "hostname": host, "timestamp": "2026-01-01T00:00:00Z"}
    backend.store.write(_LOCK, json.dumps(said).encode())


def _standings(backend: Backend) -> dict[str, str]:
    return {row.name: row.status for row in check.check_stack(backend, "dev")}


def test_a_bucket_from_nothing(run: Run, bucket_url: str) -> None:
    """`check` reports a missing bucket, `init` creates it with all parts, and a second `init` changes nothing."""
    assert run("check", "--backend", bucket_url).exit_code == 1
    first = run("init", "--backend", bucket_url)
    assert (first.exit_code, first.output.count("(set)")) == (0, 5), first.output
    second = run("init", "--backend", bucket_url)
    assert (second.exit_code, second.output.count("(set)")) == (0, 0), second.output
    checked = run("check", "--backend", bucket_url)
    assert checked.exit_code == 0, checked.output
    backend = of_url(bucket_url)
    assert backend is not None
    assert backend.store.keys("") == []
    assert "no stacks in s3://" in run("list", "--backend", bucket_url).output


def test_a_bucket_with_other_objects_is_left_as_it_is(run: Run, bucket_url: str) -> None:
    """A bucket with other objects is refused, and left as it is."""
    store = open_bucket(bucket_url)
    bucket_setup.make(store)
    name = store.location.bucket
    store.client.put_object(Bucket=name, Key="payroll.csv", Body=b"x")
    theirs = {"ID": "theirs", "Status": "Enabled", "Filter": {"Prefix": "logs/"}, "Expiration": {"Days": 7}}
    store.client.put_bucket_lifecycle_configuration(Bucket=name, LifecycleConfiguration={"Rules": [theirs]})
    refused = run("init", "--backend", bucket_url).exception
    assert isinstance(refused, Problem)
    assert "payroll.csv" in str(refused)
    assert "Status" not in store.client.get_bucket_versioning(Bucket=name)
    taken = run("init", "--backend", bucket_url, "--yes")
    assert taken.exit_code == 0, taken.output
    rules = store.client.get_bucket_lifecycle_configuration(Bucket=name)["Rules"]
    assert [(rule["ID"], rule["Filter"]["Prefix"]) for rule in rules] == [
        ("theirs", "logs/"),
        ("hpc-state", ".pulumi/"),
    ]
    assert "removes the state itself" not in run("check", "--backend", bucket_url).output


def test_a_folder(run: Run, tmp_path: Path) -> None:
    """A folder for states is created for its owner alone."""
    url = f"file://{tmp_path}/kept"
    assert run("init", "--backend", url).exit_code == 0
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700
    assert run("check", "--backend", url).exit_code == 0
    of_folder(tmp_path / "kept").store.write(_KEY, _state("a", "b"))
    assert "dev" in run("list", "--backend", url).output


def test_a_folder_that_cannot_be_made(run: Run, tmp_path: Path) -> None:
    """A backend that is a file is refused with one message."""
    (tmp_path / "file").touch()
    refused = run("init", "--backend", f"file://{tmp_path}/file").exception
    assert isinstance(refused, Problem)
    assert f"{tmp_path}/file cannot be created" in str(refused)


def test_a_check_of_a_folder_makes_none(run: Run, tmp_path: Path) -> None:
    """A check creates no folder for a backend that does not exist."""
    checked = run("check", "--backend", f"file://{tmp_path}/nothere")
    assert checked.exit_code == 1
    assert f"`./hpc state init --backend 'file://{tmp_path}/nothere'` creates it" in checked.output
    assert "write and read" not in checked.output
    assert not (tmp_path / "nothere").exists()


@dataclass(frozen=True)
class _Opening:
    """An engine that opens the state, or fails with a message."""

    complaint: str = ""

    environment = {"PULUMI_CONFIG_PASSPHRASE": "x"}  # noqa: RUF012 - as an engine has it

    def call(self, *_: str) -> str:
        if self.complaint:
            raise Problem(f"`pulumi stack output` failed:\nwarning: a passphrase, perhaps\n{self.complaint}")
        return "{}"


def test_a_check_reports_whether_the_key_opens_the_state(stack: Stack) -> None:
    """A check reports whether the passphrase or key opens the state."""
    found = check.check_passphrase(stack, cast("Engine", _Opening()))
    assert (found.status, found.text) == ("good", "opens the state")
    found = check.check_passphrase(stack, cast("Engine", _Opening("error: incorrect passphrase")))
    assert (found.status, found.text) == ("bad", "error: incorrect passphrase")
    assert "PULUMI_CONFIG_PASSPHRASE" in found.remedy


def test_a_check_repeats_how_the_settings_name_the_cluster(stack: Stack, tmp_path: Path) -> None:
    """A check prints the setting that names the cluster, as the first update did."""
    backend = of_folder(tmp_path)
    backend.store.write(".pulumi/stacks/hpc/dev.pulumi-tags", json.dumps({"tags": {CLUSTER_UID: "1-2-3"}}).encode())
    assert check.check_cluster(backend, stack) == []
    stack = on_real_cluster(stack)
    (found,) = check.check_cluster(backend, stack)
    assert "`uid: 1-2-3`, below `cluster:` in Pulumi.dev.yaml" in found.text
    stack = on_real_cluster(stack, uid="1-2-3")
    assert [row.text for row in check.check_cluster(backend, stack)] == ["1-2-3"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("list",), "--backend URL and --stack NAME"),
        (("list", "--backend", "gs://state"), "only the engine can read"),
        (("list", "--backend", "s3://state?endpont=x"), "knows no parameter endpont"),
        (("init", "--backend", "file:///x", "--stack", "dev"), "simulated cluster, which has a backend of its own"),
        (("restore", "--stack", "dev", "--name", "none"), "--from FILE and --version ID"),
        (("rotate", "--stack", "dev", "--name", "none"), "public in the repository"),
    ],
)
def test_refused(run: Run, words: tuple[str, ...], message: str) -> None:
    """A command with missing or wrong arguments is refused, with the argument and what to do."""
    found = run(*words).exception
    assert isinstance(found, Problem)
    assert message in str(found)


def test_the_status_of_a_stack(tmp_path: Path) -> None:
    """A check reports the lock of a dead process, an interrupted update, and a damaged state."""
    backend = of_folder(tmp_path)
    assert _standings(backend) == {"stack": "bad"}
    backend.store.write(_KEY, _state("a"))
    assert set(_standings(backend).values()) == {"good"}
    backend.store.write(_KEY, _state("a", pending_operations=[{}]))
    assert _standings(backend)["interrupted"] == "bad"
    _lock(backend, 1, "elsewhere")
    assert _standings(backend) | {"older states": ""} == {
        "stack": "good",
        "lock": "unknown",
        "interrupted": "unknown",
        "older states": "",
    }
    _lock(backend, 2**22 + 1, socket.gethostname())
    assert _standings(backend)["lock"] == "bad"
    backend.store.write(_KEY, b"{")
    assert _standings(backend) == {"stack": "bad"}


def test_an_id_in_place_of_a_file(tmp_path: Path) -> None:
    """An id of a version in place of a file is refused, with the option for it."""
    with pytest.raises(Problem, match="goes behind --version"):
        restore.from_file(tmp_path / "1763000000")


def test_update_under_way(stack: Stack, tmp_path: Path) -> None:
    """A restore or a new key is refused during another update; the lock of a killed one is released."""
    backend = of_folder(tmp_path)
    _lock(backend, 1, "elsewhere")
    with pytest.raises(Problem, match="being updated by process 1 of me on elsewhere"):
        selection.require_free(stack, backend)
    _lock(backend, 2**22 + 1, socket.gethostname())
    selection.require_free(stack, backend)
    assert backend.locks("dev") == ()


def test_states_of_others(stack: Stack) -> None:
    """A state of another stack, project or cluster is refused in a restore."""
    own = json.loads(_state("a"))["checkpoint"]["latest"]
    restore.require_own(stack, own, "here", "here")
    restore.require_own(stack, own, "", "here")
    with pytest.raises(Problem, match=r"about the cluster there, and stack dev is now on here\n"):
        restore.require_own(stack, own, "there", "here")
    for urn, named in (("urn:pulumi:prod::hpc::a:b:C::a", "prod"), ("urn:pulumi:dev::kit::a:b:C::a", "kit")):
        with pytest.raises(Problem, match=rf"state of stack .*{named}"):
            restore.require_own(stack, {"resources": [{"urn": urn}]}, "", "")


def test_backup_files(tmp_path: Path) -> None:
    """A backup is readable by its owner only, and a file that is none is refused with the reason."""
    file = tmp_path / "b.json"
    exported = {"version": 3, "deployment": {"resources": [{"urn": "a"}]}}
    assert access.write_backup("dev", exported, {"hpc:cluster-uid": "u"}, file) == 1
    assert file.stat().st_mode & 0o777 == 0o600
    found = access.read_backup(file)
    assert (found.document, found.cluster) == (exported, "u")
    for content in ("", "[]", '{"deployment": 1}', "\x00"):
        file.write_text(content)
        with pytest.raises(Problem, match=r"cannot be read|is not a backup"):
            access.read_backup(file)
    with pytest.raises(Problem, match="there is no file"):
        access.read_backup(tmp_path / "none")


def test_passphrases(tmp_path: Path, stack: Stack) -> None:
    """A new passphrase is read from a file; one that the engine would read differently is refused."""
    file = tmp_path / "new"
    file.write_text("words of mine\n")
    assert rotate.passphrase_from(file) == "words of mine"
    with pytest.raises(Problem, match="cannot be read"):
        rotate.passphrase_from(tmp_path / "none")
    for wrong in ("", " a", "a\nb"):
        with pytest.raises(Problem, match="the new passphrase"):
            rotate.require_usable(wrong)
    assert rotate.given_by_user(stack)
    assert len({rotate.new_passphrase(read_stack("pytorch"), None) for _ in range(3)}) == 3


def test_a_restore_over_what_came_meanwhile_is_refused(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restore is refused when another update has changed the state since the confirmation."""
    backend = of_folder(tmp_path)
    backend.store.write(_KEY, _state("a"))
    imported = []

    def call(self: Engine, *words: str) -> str:  # noqa: ARG001
        if words[1] == "import":
            imported.append(words)
        return json.dumps({"version": 3, "deployment": backend.checkpoint("dev")})

    monkeypatch.setattr(Engine, "call", call)
    engine = Engine(tmp_path, "dev", {})
    plan = restore.plan(stack, engine, backend, json.loads(_state("b"))["checkpoint"]["latest"], None)
    backend.store.write(_KEY, _state("a", "of another update"))
    with pytest.raises(Problem, match="was changed meanwhile"):
        access.write(engine, backend, plan.present, plan.document, tmp_path / "backup")
    assert imported == []
    backend.store.write(_KEY, _state("a"))
    access.write(engine, backend, plan.present, plan.document, tmp_path / "backup")
    assert len(imported) == 1


def test_a_damaged_state_that_was_repaired_meanwhile_is_not_overwritten(stack: Stack, tmp_path: Path) -> None:
    """A restore over a damaged state is refused when it has changed since, by its bytes."""
    backend = of_folder(tmp_path)
    backend.store.write(_KEY, b"{")
    engine = Engine(tmp_path, "dev", {})
    plan = restore.plan(stack, engine, backend, json.loads(_state("b"))["checkpoint"]["latest"], None)
    backend.store.write(_KEY, _state("a"))
    with pytest.raises(Problem, match="was changed meanwhile"):
        access.write(engine, backend, plan.present, plan.document, tmp_path / "backup")
