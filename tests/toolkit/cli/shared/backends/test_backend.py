"""Which backend a stack has."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from stacks.settings.stack import StateSettings
from tests.support.states import on_real_cluster, store, stored, write_state
from toolkit.cli.shared import environment, session, stack_checks
from toolkit.cli.shared.backends.backend import (
    CLUSTER_SERVER,
    named_url,
    of_folder,
    of_url,
    require_reachable,
    without_login,
)
from toolkit.cli.shared.backends.bucket import BucketStore
from toolkit.cli.shared.backends.store import FolderStore
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.simulated import backend as simulated_backend
from toolkit.cli.shared.simulated import spec as simulated_spec
from toolkit.cli.shared.stack import Stack
from toolkit.simulator import state as states
from toolkit.simulator.access import accounts
from toolkit.simulator.home import Layout
from toolkit.simulator.object_store.files import Files, Version
from toolkit.simulator.state import PortNumbers, State

BUCKET = "s3://states/hpc?region=eu-central-1&endpoint=https://s3.example.com"
PERSONAL = ("PULUMI_BACKEND_URL", "PULUMI_HOME", "PULUMI_CREDENTIALS_PATH", "PULUMI_DIY_BACKEND_GZIP")


@pytest.fixture(autouse=True)
def _nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leave out what the user has chosen."""
    for name in PERSONAL:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def _real(stack: Stack, backend: str | None) -> Stack:
    real = on_real_cluster(stack)
    state = StateSettings(backend=backend) if backend else None
    return replace(real, settings=real.settings.model_copy(update={"state": state}))


def _url(stack: Stack) -> str | None:
    return stack.backend.url if stack.backend else None


@pytest.mark.parametrize("wanted", [None, "file://{}/states"])
def test_a_cluster_has_the_folder_of_its_state(dev: Stack, tmp_path: Path, wanted: str | None) -> None:
    """The engine makes no folder: the first plain `pulumi up` finds the one that the cluster was started with."""
    if wanted:
        session.choose_backend(dev, wanted.format(tmp_path))
    simulated_backend.make_store(dev.home)
    assert dev.backend is not None
    assert isinstance(dev.backend.store, FolderStore)
    assert dev.backend.store.folder.is_dir()


def test_choice_is_remembered_and_the_cluster_gets_its_store(dev: Stack) -> None:
    """The backend of the first command is recorded, and later commands use it."""
    assert simulated_backend.recorded(dev.home) == ""
    assert not simulated_spec.of(dev).object_store
    session.choose_backend(dev, "s3")
    session.choose_backend(dev, None)
    session.choose_backend(dev, "s3")
    assert simulated_backend.recorded(dev.home) == "s3"
    assert simulated_spec.of(dev).object_store
    url = _url(dev)
    assert url is not None
    assert url.startswith(f"s3://{simulated_backend.BUCKET}?endpoint=http://127.0.0.1:")


def test_state_in_one_backend_keeps_the_cluster_there(dev: Stack, tmp_path: Path) -> None:
    """A cluster with a state in one backend is refused another one."""
    state = write_state(dev, "dev", [])
    with pytest.raises(Problem, match=r"(?s)state of dev in its folder, and --backend is s3\n.*hpc sim clean --name"):
        session.choose_backend(dev, "s3")
    state.unlink()
    session.choose_backend(dev, f"file://{tmp_path}/elsewhere")
    assert _url(dev) == f"file://{tmp_path}/elsewhere?metadata=skip"


@pytest.mark.parametrize(
    "value", ["folder", "gs://x", "s3://", "file://relative", "https://me:secret@host", "s3://a:b@c"]
)
def test_backend_of_a_wrong_form_is_refused(dev: Stack, value: str) -> None:
    """A backend of a wrong form is refused and not recorded, without a password in the message."""
    with pytest.raises(Problem, match=r"\n") as refused:
        session.choose_backend(dev, value)
    assert "secret" not in str(refused.value)
    assert simulated_backend.recorded(dev.home) == ""


def test_option_is_for_simulated_clusters(dev: Stack) -> None:
    """The option --backend is refused for real clusters, with the setting to use."""
    with pytest.raises(Problem, match=r"state\.backend"):
        session.choose_backend(_real(dev, None), "s3")


@pytest.mark.parametrize(
    ("setting", "given", "found"),
    [
        (None, None, None),
        (None, BUCKET, BUCKET),
        (BUCKET, None, BUCKET),
        (BUCKET, "s3://states/hpc/?endpoint=https://s3.example.com&region=eu-central-1", BUCKET),
    ],
)
def test_real_cluster_has_the_backend_that_is_named(
    dev: Stack, setting: str | None, given: str | None, found: str | None
) -> None:
    """The backend of a real cluster is that of the settings, else that of the environment."""
    assert named_url(setting, {"PULUMI_BACKEND_URL": given} if given else {}, dev.name) == found


def test_contradiction_is_refused_with_both_values(dev: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings and environment that name different backends are refused, with both values."""
    monkeypatch.setenv("PULUMI_BACKEND_URL", "file:///elsewhere")
    real = _real(dev, BUCKET)
    with pytest.raises(Problem, match=r"(?s)states/hpc.*file:///elsewhere.*unset PULUMI_BACKEND_URL"):
        _ = real.backend
    with pytest.raises(Problem, match="unset PULUMI_BACKEND_URL"):
        environment.variables(real, Path("/bin/pulumi"), {"PATH": "", "PULUMI_BACKEND_URL": "file:///elsewhere"})


def test_password_in_a_url_is_not_shown() -> None:
    """Messages show a backend's URL without its password."""
    database = {"PULUMI_BACKEND_URL": "postgres://user:planted@db.example.com/pulumi?x=1"}
    with pytest.raises(Problem, match=r"postgres://\.\.\.@db\.example\.com/pulumi\?x=1") as refused:
        named_url("s3://bucket", database, "dev")
    assert "planted" not in str(refused.value)
    assert without_login("s3://bucket?endpoint=https://a@b") == "s3://bucket?endpoint=https://a@b"


def test_login_of_the_user_is_found_and_left_alone(dev: Stack, tmp_path: Path) -> None:
    """Without a setting the user's login decides, and is not changed."""
    real = _real(dev, None)
    assert real.backend is None
    login = tmp_path / ".pulumi" / "credentials.json"
    login.parent.mkdir()
    login.write_text('{"current": "file://~"}')
    assert _url(real) == "file://~"
    login.write_text('{"current": "https://api.pulumi.com"}')
    assert real.backend is None
    assert "PULUMI_BACKEND_URL" not in environment.variables(real, Path("/bin/pulumi"), {"PATH": ""})


def test_keys_go_to_the_engine_of_their_cluster_only(dev: Stack) -> None:
    """The engine gets the keys of its own cluster's store, and none of the user's."""
    pulumi, outer = Path("/bin/pulumi"), {"PATH": "", "AWS_PROFILE": "mine", "AWS_SESSION_TOKEN": "token"}
    assert not [name for name in environment.variables(dev, pulumi, outer) if name.startswith("AWS_")]
    session.choose_backend(dev, "s3")
    account = accounts.create(Layout(dev.home).object_credentials)
    found = {**outer, **environment.variables(dev, pulumi, outer)}
    assert (found["AWS_ACCESS_KEY_ID"], found["AWS_SECRET_ACCESS_KEY"]) == (account.user, account.password)
    assert found["AWS_PROFILE"] == found["AWS_SESSION_TOKEN"] == ""
    assert found["AWS_EC2_METADATA_DISABLED"] == found["PULUMI_DIY_BACKEND_GZIP"] == "true"


def test_store_that_does_not_run_can_be_read_and_is_named(dev: Stack) -> None:
    """The state in a store that does not run can be read, and the engine is refused with the store's name."""
    session.choose_backend(dev, "s3")
    backend = simulated_backend.of_cluster(dev.home)
    assert backend.stacks() == []
    files = Files(Layout(dev.home).objects)
    key = ".pulumi/stacks/hpc/dev.json"
    for number, content in enumerate((b"{}", b'{"checkpoint": {"latest": {"resources": [1]}}}')):
        files.write(simulated_backend.BUCKET, Version(key, f"v{number}", number, float(number)), content)
    assert backend.checkpoint("dev") == {"resources": [1]}
    assert backend.written("dev") == 1.0
    assert [(version.id, version.latest) for version in backend.store.versions(key)] == [("v1", True), ("v0", False)]
    assert backend.store.read_version(key, "v0") == b"{}"
    files.write(simulated_backend.BUCKET, Version(key, "v2", 2, 2.0, deleted=True), b"")
    assert not backend.has("dev")
    with pytest.raises(Problem, match=r"hpc sim up --name default"):
        simulated_backend.require_running(backend)
    with pytest.raises(Problem, match=r"hpc sim up --name default"):
        backend.store.remove(key)


def test_folder_needs_no_bucket(tmp_path: Path) -> None:
    """A backend in a folder needs no bucket."""
    require_reachable(of_folder(tmp_path / "absent"))


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"backend": "bucket"}, "write s3://BUCKET"),
        ({"backend": "s3://me:hidden@states"}, "contains a login"),
        ({"secrets_provider": "none"}, "write passphrase"),
        ({"key": "x"}, "key"),
    ],
)
def test_settings_of_the_state(settings: dict[str, Any], named: str) -> None:
    """Settings refuse backends of a wrong form and passwords in them."""
    with pytest.raises(ValidationError, match=named):
        StateSettings.model_validate(settings)
    assert StateSettings(backend=BUCKET, secrets_provider="awskms://alias/hpc").backend == BUCKET


def test_bucket_of_many_clusters(dev: Stack, tmp_path: Path) -> None:
    """In a shared bucket only stacks of the same cluster count as that cluster's."""
    session.choose_backend(dev, f"file://{tmp_path}/shared")
    numbers = PortNumbers(api=20001, etcd=20002, etcd_peer=20003, kubelet=20004)
    known = State(spec=simulated_spec.of(dev), ports=numbers)
    states.save(Layout(dev.home), known)
    for server in ("https://127.0.0.1:20999", known.server):
        store(tmp_path / "shared", "prod", {"resources": [{}]}, {CLUSTER_SERVER: server})
        with pytest.raises(Problem, match="has stack prod on it") if server == known.server else nullcontext():
            stack_checks.require_own_cluster(dev)


def test_state_that_outlived_its_cluster_names_its_backend(dev: Stack, tmp_path: Path) -> None:
    """A state without its cluster is refused with its backend, and the command that removes it."""
    session.choose_backend(dev, f"file://{tmp_path}/shared")
    stored(tmp_path / "shared", {"resources": [{}]})
    with pytest.raises(Problem, match=r"file://.*shared.*stack rm dev --force"):
        stack_checks.require_cluster_of_state(dev)


def test_the_region_of_a_bucket_is_the_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bucket is looked for in the engine's region, which is AWS_REGION."""
    for name in ("AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for region in ("eu-central-1", "us-west-2"):
        monkeypatch.setenv("AWS_REGION", region)
        store: Any = simulated_backend.readable("s3://bucket").store
        assert store.client.meta.region_name == region


def test_the_folder_behind_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder is the one that the engine reads out of the URL."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for url in ("file://~", f"file://{tmp_path}?metadata=skip", "file://."):
        found = of_url(url)
        assert found is not None
        assert found.store == FolderStore(tmp_path)
        assert found.url == url
    spaced = tmp_path / "a b"
    assert of_url(of_folder(spaced).url) == replace(of_folder(spaced), own=False)


def test_what_only_the_engine_can_read_has_no_backend_here(bucket_keys: None) -> None:  # noqa: ARG001
    """URLs of other schemes than those of buckets and folders are the engine's alone."""
    assert of_url("https://api.pulumi.com") is None
    assert of_url("gs://state") is None
    found = of_url("s3://state/x?region=us-east-1")
    assert found is not None
    assert isinstance(found.store, BucketStore)
