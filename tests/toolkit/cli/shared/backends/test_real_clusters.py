"""The state of a stack on a real cluster in a bucket, with the real engine against a real HTTP endpoint."""

import json
import os
import shutil
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from stacks.settings.stack import StateSettings
from tests.support.states import on_real_cluster
from toolkit.cli.shared import session
from toolkit.cli.shared.backends import bucket_setup
from toolkit.cli.shared.backends.bucket import BucketStore
from toolkit.cli.shared.checkpoints import interrupted
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack, read
from toolkit.simulator.processes import ports

pytestmark = pytest.mark.engine

_PID = 2**22 - 1
DEAD = {"pid": _PID, "username": "me", "hostname": socket.gethostname(), "timestamp": "2026-01-01T00:00:00Z"}


@pytest.fixture
def stack_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Stack]:
    """Give stack dev as that of a real cluster, with its state where the settings say."""
    for name in [name for name in os.environ if name.startswith("PULUMI_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "pulumi-home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "notes"))
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "x")

    def make(url: str) -> Stack:
        real = on_real_cluster(read("dev"))
        return replace(real, settings=real.settings.model_copy(update={"state": StateSettings(backend=url)}))

    return make


def test_bucket_of_a_real_cluster(stack_in: Callable[[str], Stack], bucket_url: str, tmp_path: Path) -> None:
    """A missing bucket or stack is refused with the command that creates it; plain `pulumi` sees the same."""
    real = stack_in(bucket_url)
    backend = real.backend
    assert backend is not None
    with pytest.raises(Problem, match=r"there is no bucket state-\d+ .*\n.*hpc state init"):
        session.engine(real)
    bucket_setup.make(cast("BucketStore", backend.store))
    running = session.engine(real)
    with pytest.raises(Problem, match=r"there is no stack dev in s3://state-.*\n.*state init --stack dev"):
        session.prepare(real, running)
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    running.call("stack", "init", "dev", folder=tmp_path)
    session.prepare(real, running)
    assert backend.stacks() == ["dev"]
    assert backend.key("dev").endswith(".json.gz")
    backend.store.write(".pulumi/locks/organization/hpc/dev/1.json", json.dumps(DEAD).encode())
    with pytest.raises(Problem, match="currently locked by 1 lock"):
        running.call("refresh", "--yes", "--stack", "dev", folder=tmp_path)
    with pytest.raises(Problem, match=r"\./hpc pulumi --stack dev cancel"):
        interrupted.settle(real, running, Cluster(tmp_path / "none", "none"))
    assert running.noting is not None
    assert running.noting(_PID)
    interrupted.settle(real, running, Cluster(tmp_path / "none", "none"))
    assert backend.locks("dev") == ()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"endpoint": "closed"}, r"http://127\.0\.0\.1:.* bucket .*\n.*endpoint"),
        ({"profile": "nobody"}, r"nobody"),
    ],
)
@pytest.mark.usefixtures("bucket_keys")
def test_bucket_that_cannot_be_reached_is_one_message(
    stack_in: Callable[[str], Stack], changes: dict[str, str], named: str
) -> None:
    """A bucket that cannot be reached fails within seconds, with one message and its remedy."""
    words = {"endpoint": f"http://127.0.0.1:{ports.free()}", "s3ForcePathStyle": "true", "region": "us-east-1"}
    if "profile" in changes:
        words |= changes
    begin = time.monotonic()
    with pytest.raises(Problem, match=named) as refused:
        session.engine(stack_in(f"s3://absent?{'&'.join(f'{key}={value}' for key, value in words.items())}"))
    assert "\n" in str(refused.value), "a remedy"
    assert time.monotonic() - begin < 15


def test_no_proxy_stands_before_this_machine(
    stack_in: Callable[[str], Stack], bucket_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store on this machine is reached without the proxy of the environment, as the engine does."""
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{ports.free()}")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(Problem, match="there is no bucket"):
        session.engine(stack_in(bucket_url))
