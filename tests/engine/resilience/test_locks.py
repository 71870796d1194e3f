"""Two updates at once, and what a killed one leaves: the lock, and what was under way."""

import os
import signal
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.engine.kit import Cluster, config_map, wait_until, widget
from tests.engine.resilience.kit import LABELS, Kept
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.engine.tools import find

pytestmark = pytest.mark.engine
PATH = "/apis/kit.example.com/v1/namespaces/{}/widgets/w"


@pytest.fixture
def waiting(kept: Kept, api: Cluster, namespace: str, widgets: str) -> Iterator["subprocess.Popen[str]"]:  # noqa: ARG001
    """Start an update that waits for a widget to become ready, which never happens."""
    options = {"replace_on_changes": ["spec"], "delete_before_replace": True, "replacement_trigger": 2}  # as a job has
    ready = {"pulumi.com/waitFor": "condition=Ready"}
    never = widget("w", namespace, {"n": 1, "list": [{"a": 1}]}, annotations=ready, options=options)
    never["fields"]["metadata"]["labels"] = LABELS
    kept.configure(config_map("first", namespace, {"a": "1"}), never)
    engine = kept.start_pulumi("up", "--yes", "--skip-preview")
    wait_until(lambda: api.get(PATH.format(namespace)) is not None)
    wait_until(lambda: len(kept.resources_of("ConfigMap")) == 1)
    try:
        yield engine
    finally:
        engine.kill()
        engine.communicate()


def test_one_update_at_a_time_and_a_killed_one_is_finished(
    kept: Kept, waiting: "subprocess.Popen[str]", api: Cluster, namespace: str
) -> None:
    """A second update is refused by the lock; a killed one fails with AlreadyExists until `./hpc state repair`."""
    here = os.uname().nodename
    second = kept.up()
    assert second.status != 0
    assert f"@{here} (pid {waiting.pid})" in second.text
    with pytest.raises(Problem, match=rf"is being updated by process {waiting.pid} of \w+ on {here} since"):
        kept.repair()
    assert len(kept.backend.locks(kept.name)) == 1

    waiting.kill()
    waiting.wait()
    uid = api.get(PATH.format(namespace))["metadata"]["uid"]
    assert kept.pulumi("cancel", "--yes").status == 0
    assert kept.backend.locks(kept.name) == ()
    assert kept.refresh().status == 0
    plain = kept.up()
    assert plain.status != 0
    assert "already exists" in plain.text

    kept.repair()
    planned = kept.preview()
    assert (planned.status, planned.steps("replace")) == (0, set()), planned.text
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    api.patch(f"{PATH.format(namespace)}/status", ready, manager="controller")
    done = kept.up()
    assert done.status == 0, done.text
    assert api.get(PATH.format(namespace))["metadata"]["uid"] == uid
    assert len(kept.resources_of("Widget")) == 1
    nothing = kept.preview("--expect-no-changes")
    assert nothing.status == 0, nothing.text


@pytest.mark.usefixtures("widgets")
def test_a_shared_backend_gives_up_only_what_was_noted(
    kept: Kept, api: Cluster, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a shared backend only a lock that this machine noted is released; others need `pulumi cancel`."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "notes"))
    monkeypatch.setattr("toolkit.cli.shared.engine.ROOT", kept.folder)
    never = widget("w", namespace, {"n": 1}, annotations={"pulumi.com/waitFor": "condition=Ready"})
    kept.configure(never)
    plain = kept.start_pulumi("up", "--yes", "--skip-preview")
    wait_until(lambda: api.get(PATH.format(namespace)) is not None)
    plain.kill()
    plain.communicate()
    with pytest.raises(Problem, match="Only the machine on which"):
        kept.shared.release(kept.name)
    assert kept.pulumi("cancel", "--yes").status == 0

    kept.configure(widget("v", namespace, {"n": 1}, annotations={"pulumi.com/waitFor": "condition=Ready"}))
    note, noted = partial(kept.shared.note_lock, kept.name), list[int]()

    def noting(pid: int) -> bool:
        if note(pid):
            noted.append(pid)
            os.kill(pid, signal.SIGKILL)
        return bool(noted)

    engine = Engine(find("pulumi"), kept.name, kept.environment(), noting)
    status, _ = engine.run_update("killed", tmp_path / "log", "up", "--yes", "--skip-preview")
    assert status == -signal.SIGKILL
    assert [lock.pid for lock in kept.shared.release(kept.name)] == noted
