"""The state of a stack in a bucket: older versions brought back, backups, and new keys, with the real engine."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from stacks.loading.settings import load
from stacks.settings.stack import StateSettings
from tests.engine.kit import Cluster, config_map
from tests.engine.kit import Stack as Project
from tests.support.buckets import KEYS
from toolkit.cli.shared.backends import bucket_parts, bucket_setup, older_states
from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.backends.bucket import open_bucket
from toolkit.cli.shared.checkpoints import access
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.cli.state import check, init, restore, rotate
from toolkit.engine.tools import find

pytestmark = pytest.mark.engine
ROOT = Path(__file__).parents[2]


@dataclass
class _InBucket(Project):
    """A project whose state is in a bucket."""

    url: str = ""

    def environment(self) -> dict[str, str]:
        return {**super().environment(), **KEYS, "PULUMI_BACKEND_URL": self.url}


@dataclass(frozen=True)
class _Stack(Stack):
    """A stack whose settings are the project's; `own`: as a simulated cluster keeps them."""

    folder: Path = Path()
    own: bool = False

    @property
    def simulated(self) -> bool:
        return False

    @property
    def copied(self) -> bool:
        return False

    @property
    def keeps_secrets(self) -> bool:
        return self.own

    @property
    def example(self) -> bool:
        return False

    @property
    def home(self) -> Path:
        return self.folder

    @property
    def file(self) -> Path:
        return self.folder / f"Pulumi.{self.name}.yaml"


@dataclass
class _StackInBucket:
    """One stack in one bucket, and our side of it."""

    project: _InBucket
    backend: Backend
    stack: _Stack
    engine: Engine
    cluster: Cluster

    def live(self, version: str, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        assert (version, kind) == ("v1", "ConfigMap")
        found: Mapping[str, Any] | None = self.cluster.get(f"/api/v1/namespaces/{namespace}/configmaps/{name}")
        return found

    def names(self) -> set[str]:
        found = older_states.resources(self.backend.checkpoint("dev"))
        return {each["urn"].rpartition("::")[2] for each in found if "ConfigMap" in each["type"]}


@pytest.fixture
def lab(tmp_path: Path, api: Cluster, bucket_url: str, monkeypatch: pytest.MonkeyPatch) -> _StackInBucket:
    """Give a stack of programs/objects.py whose state is in a bucket of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "local"))
    store = open_bucket(bucket_url)
    bucket_setup.make(store)
    for part in bucket_parts.PARTS:
        bucket_setup.repair(store, part, bucket_parts.BucketOptions())
    project = _InBucket(
        tmp_path / "project", api, "dev", "hpc", url=bucket_url, options={"enable_config_map_mutable": True}
    )
    project.start()
    stack = _Stack("dev", load("dev", ROOT), folder=project.folder)
    engine = Engine(find("pulumi"), "dev", project.environment())
    return _StackInBucket(project, Backend(bucket_url, store), stack, engine, api)


def test_older_version_and_lost_state(lab: _StackInBucket, namespace: str, tmp_path: Path) -> None:
    """An older or lost state is restored with the objects that exist, and the next update creates and deletes none."""
    project, backend = lab.project, lab.backend
    first = [config_map(name, namespace, {"x": "1"}) for name in ("a", "b")]
    second = [config_map(name, namespace, {"x": "2"}) for name in ("b", "c")]
    project.configure(*first)
    assert project.up().status == 0
    old = next(one for one in older_states.kept(backend, "dev") if one.kind == older_states.VERSION)
    assert older_states.find(backend, "dev", old.id) == old
    assert len(older_states.resources(older_states.read(backend, old))) == len(
        older_states.resources(backend.checkpoint("dev"))
    )
    project.configure(*second)
    assert project.up().status == 0

    found, cluster = restore.from_version(backend, "dev", old.id)
    restore.require_own(lab.stack, found, cluster, "any")
    plan = restore.plan(lab.stack, lab.engine, lab.backend, found, lab.live)
    assert [urn.rpartition("::")[2] for urn in plan.restored.gone] == ["a"]
    assert [urn.rpartition("::")[2] for urn in plan.restored.taken] == ["c"]
    access.write(lab.engine, lab.backend, plan.present, plan.document, tmp_path / "before.json")
    assert len(older_states.resources(access.read_backup(tmp_path / "before.json").deployment)) == len(
        project_state(lab)
    )
    assert lab.names() == {"b", "c"}
    done = project.up()
    assert (done.status, done.steps("created"), done.steps("deleted")) == (0, set(), set()), done.text
    assert lab.live("v1", "ConfigMap", namespace, "b")["data"] == {"x": "2"}  # type: ignore[index]

    plan = restore.plan(lab.stack, lab.engine, lab.backend, found, lab.live)
    access.write(lab.engine, lab.backend, plan.present, plan.document, tmp_path / "before-again.json")
    project.configure(*first)
    done = project.up()
    assert (done.status, done.steps("created"), done.steps("deleted")) == (0, {"a"}, {"c"}), done.text
    assert lab.live("v1", "ConfigMap", namespace, "b")["data"] == {"x": "1"}  # type: ignore[index]
    assert lab.live("v1", "ConfigMap", namespace, "c") is None

    file = tmp_path / "backup.json"
    assert access.write_backup("dev", access.export(lab.engine), {}, file) == len(project_state(lab))
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(Problem, match="exists already"):
        access.write_backup("dev", {}, {}, file)
    assert project.pulumi("stack", "rm", "--force", "--yes", "--preserve-config").status == 0
    assert [row.status for row in check.check_stack(backend, "dev")] == [bucket_parts.BAD]
    assert project.pulumi("stack", "init", "dev").status == 0
    found, _ = restore.from_file(file)
    plan = restore.plan(lab.stack, lab.engine, lab.backend, found, lab.live)
    access.write(lab.engine, lab.backend, plan.present, plan.document, tmp_path / "before-all.json")
    again = project.preview("--expect-no-changes")
    assert again.status == 0, again.text
    assert {row.status for row in check.check_stack(backend, "dev")} == {bucket_parts.GOOD}

    backend.store.write(backend.key("dev"), b'{"version"')
    plan = restore.plan(lab.stack, lab.engine, backend, found, lab.live)
    damaged = access.backup_place(lab.stack, "damaged")
    access.write(lab.engine, lab.backend, plan.present, plan.document, damaged)
    assert damaged.read_bytes() == b'{"version"'
    again = project.preview("--expect-no-changes")
    assert again.status == 0, again.text


def project_state(lab: _StackInBucket) -> list[dict[str, Any]]:
    """Return the resources in the state."""
    return older_states.resources(lab.backend.checkpoint("dev"))


def test_new_keys(lab: _StackInBucket, namespace: str) -> None:
    """After a rotation the new passphrase opens every secret, and the old one none."""
    project = lab.project
    assert project.pulumi("config", "set", "--secret", "hpc:word", "planted-word").status == 0
    project.configure(config_map("a", namespace, {"x": "planted-value"}, secret=["data"]))
    up = project.up()
    assert up.status == 0, up.text
    assert b"planted" not in (lab.backend.read("dev") or b"")
    before = lab.stack.file.read_text()

    done = rotate.rotate(lab.stack, lab.engine, {}, rotate.PASSPHRASE, "another word")
    assert done.settings == lab.stack.file
    assert done.backup.stat().st_mode & 0o777 == 0o600
    assert b"planted" not in done.backup.read_bytes()
    assert sorted(path.name for path in done.backup.parent.iterdir()) == [done.backup.name]
    assert lab.stack.file.read_text() != before
    assert project.pulumi("config", "get", "hpc:word").status != 0
    renewed = Engine(lab.engine.program, "dev", {**project.environment(), "PULUMI_CONFIG_PASSPHRASE": "another word"})
    assert renewed.call("config", "get", "hpc:word", "--stack", "dev", folder=project.folder).strip() == "planted-word"
    assert "planted-value" in renewed.call("stack", "export", "--show-secrets", "--stack", "dev")

    assert check.check_passphrase(lab.stack, renewed).status == bucket_parts.GOOD
    wrong = check.check_passphrase(lab.stack, lab.engine)
    assert (wrong.status, "incorrect passphrase" in wrong.text) == (bucket_parts.BAD, True), wrong.text

    mine = replace(lab.stack, own=True)
    third = rotate.rotate(mine, renewed, {}, rotate.PASSPHRASE, "a third word")
    assert third.passphrase == mine.own_passphrase_file
    assert third.passphrase.stat().st_mode & 0o777 == 0o600
    outer = {**project.environment(), "PULUMI_CONFIG_PASSPHRASE_FILE": str(third.passphrase)}
    del outer["PULUMI_CONFIG_PASSPHRASE"]
    last = Engine(lab.engine.program, "dev", outer)
    assert "planted-value" in last.call("stack", "export", "--show-secrets", "--stack", "dev")

    found, cluster = restore.from_file(done.backup)
    with pytest.raises(Problem, match=r"encrypted with an earlier key.*\n.*state rotate"):
        restore.require_own(lab.stack, found, cluster, "")


def test_stack_with_a_key(lab: _StackInBucket, object_store: str, namespace: str) -> None:
    """A stack is created once, under the key of its settings; a passphrase is replaced by a key in a rotation."""
    import boto3  # noqa: PLC0415

    client = boto3.client("kms", endpoint_url=object_store, region_name="us-east-1")
    url = f"awskms://{client.create_key()['KeyMetadata']['KeyId']}?region=us-east-1&endpoint={object_store}"
    settings = lab.stack.settings.model_copy(update={"state": StateSettings(secrets_provider=url)})
    wanted = replace(lab.stack, name="keyed", settings=settings)
    wanted.file.write_text("# a comment of ours\nconfig:\n  hpc:platform:\n    a: 1 # here\n")
    assert init.create_stack(wanted, lab.engine, lab.backend)[1]
    assert not init.create_stack(wanted, lab.engine, lab.backend)[1]
    made = wanted.file.read_text()
    assert made.startswith("# a comment of ours\nconfig:\n  hpc:platform:\n    a: 1 # here\n")
    assert "encryptedkey:" in made

    lab.project.configure(config_map("a", namespace, {"x": "planted-value"}, secret=["data"]))
    assert lab.project.up().status == 0
    rotate.rotate(lab.stack, lab.engine, {}, url, None)
    now = lab.stack.file.read_text()
    assert "encryptedkey:" in now
    assert "encryptionsalt:" not in now
    again = lab.project.preview("--expect-no-changes")
    assert again.status == 0, again.text


def test_rotation_that_fails(lab: _StackInBucket) -> None:
    """A rotation that fails leaves settings and state with the former key."""
    lab.project.configure()
    assert lab.project.up().status == 0
    before = lab.stack.file.read_text()
    with pytest.raises(Problem, match="Nothing was changed in"):
        rotate.rotate(
            lab.stack, lab.engine, {}, "awskms://no-such-key?region=us-east-1&endpoint=http://127.0.0.1:1", None
        )
    assert lab.stack.file.read_text() == before
    assert (
        json.loads(lab.engine.call("stack", "export", "--stack", "dev"))["deployment"]["secrets_providers"]["state"][
            "salt"
        ]
        in before
    )
