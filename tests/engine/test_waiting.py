"""Waiting for objects: what counts as ready, how a failure looks, and how it is repaired."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from simulator.plugins.locate import LANGUAGE, plugin_choice
from tests.engine.kit import Cluster, Stack, thing, wait_until, widget

pytestmark = pytest.mark.engine

EITHER_END = 'jsonpath={.status.conditions[?(@.type=="Succeeded" || @.type=="Failed")].type}'


@contextmanager
def meanwhile(action: Callable[[], None]) -> Iterator[None]:
    """Do something while the engine works."""
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    yield
    thread.join(30)


def set_status(api: Cluster, path: str, status: dict[str, Any]) -> Callable[[], None]:
    """Set an object's status, as its controller would, once it exists."""

    def act() -> None:
        wait_until(lambda: api.get(path) is not None)
        api.patch(f"{path}/status", {"status": status}, manager="controller")

    return act


def test_wait_for_either_end(stack: Stack, api: Cluster, namespace: str, widgets: str) -> None:
    """A wait for either of two conditions ends with the first that is met, and stores the status."""
    base = f"/apis/{widgets}/v1/namespaces/{namespace}/widgets"
    stack.configure(widget("w", namespace, {"n": 1}, annotations={"pulumi.com/waitFor": EITHER_END}))
    failed = {"conditions": [{"type": "Created", "status": "True"}, {"type": "Failed", "status": "True"}]}
    with meanwhile(set_status(api, f"{base}/w", failed)):
        done = stack.up()
    assert done.status == 0, done.text
    assert stack.resources()["w"]["outputs"]["status"] == failed
    assert stack.preview("--expect-no-changes").status == 0


@pytest.mark.usefixtures("widgets")
def test_wait_times_out(stack: Stack, namespace: str) -> None:
    """A wait that times out fails, keeps the object in the state, and gives way to customTimeouts and skipAwait."""
    both = '["condition=Ready", "jsonpath={.status.configuration.source[0].name}=ours"]'
    annotations = {"pulumi.com/waitFor": both, "pulumi.com/timeoutSeconds": "1"}
    stack.configure(widget("w", namespace, {"n": 1}, annotations=annotations))
    failed = stack.up()
    assert failed.status != 0
    assert "failed to fully initialize or become live: timed out waiting for the condition" in failed.text
    assert stack.resources()["w"]["id"] == f"{namespace}/w"
    # customTimeouts count more than the annotation, and skipAwait more than both.
    annotations["pulumi.com/timeoutSeconds"] = "600"
    stack.configure(widget("w", namespace, {"n": 2}, annotations=annotations, timeout="2s"))
    assert "timed out waiting for the condition" in stack.up().text
    annotations["pulumi.com/skipAwait"] = "true"
    stack.configure(widget("w", namespace, {"n": 2}, annotations=annotations))
    assert stack.up().status == 0


def test_failed_job_is_recorded_and_replaced(stack: Stack, api: Cluster, namespace: str) -> None:
    """A failed job fails the update with its message, stays in the state, and is replaced by the next update."""
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs/job"
    containers = [{"name": "test", "image": "i", "command": ["ib_write_bw"]}]
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job", "namespace": namespace},
        "spec": {"backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never", "containers": containers}}},
    }
    stack.configure(thing("job", "kubernetes:batch/v1:Job", job))
    message = "Couldn't allocate MR"

    def fail() -> None:
        pods = f"/api/v1/namespaces/{namespace}/pods"
        wait_until(lambda: bool(api.get(pods)["items"]))
        name = api.get(pods)["items"][0]["metadata"]["name"]
        terminated = {"exitCode": 1, "reason": "Error", "message": message}
        status = {"name": "test", "image": "i", "imageID": "", "ready": False, "restartCount": 0}
        status["state"] = {"terminated": terminated}
        conditions = [{"type": kind, "status": "True"} for kind in ("PodScheduled", "Initialized")]
        conditions.append({"type": "Ready", "status": "False", "reason": "PodFailed"})
        ended = {"phase": "Failed", "containerStatuses": [status], "conditions": conditions}
        api.patch(f"{pods}/{name}/status", {"status": ended})

    with meanwhile(fail):
        failed = stack.up()
    assert failed.status != 0
    assert "BackoffLimitExceeded" in failed.text
    assert message in failed.text
    assert stack.resources()["job"]["initErrors"]
    # With replaceUnready the next update runs it again; without, it would only say again that it failed.
    job["metadata"]["annotations"] = {"pulumi.com/replaceUnready": "true"}  # type: ignore[index]
    stack.configure(thing("job", "kubernetes:batch/v1:Job", job))
    uid = api.get(path)["metadata"]["uid"]

    def succeed() -> None:
        pods = f"/api/v1/namespaces/{namespace}/pods"

        def mine() -> list[Any]:
            owner = (api.get(path) or {"metadata": {"uid": uid}})["metadata"]["uid"]
            items = api.get(pods)["items"]
            return [] if owner == uid else [p for p in items if p["metadata"]["ownerReferences"][0]["uid"] == owner]

        wait_until(lambda: bool(mine()))
        api.patch(f"{pods}/{mine()[0]['metadata']['name']}/status", {"status": {"phase": "Succeeded"}})

    with meanwhile(succeed):
        mended = stack.up()
    assert mended.status == 0, mended.text
    assert not stack.resources()["job"].get("initErrors")
    assert stack.preview("--expect-no-changes").status == 0


def test_interrupted_wait_ends_at_once(stack: Stack, api: Cluster, namespace: str, widgets: str) -> None:
    """Ctrl-C ends a wait within seconds, without tracebacks of plugins."""
    stack.configure(widget("w", namespace, {"n": 1}, annotations={"pulumi.com/waitFor": "condition=Never"}))
    engine = stack.start_pulumi("up", "--yes", "--skip-preview")
    wait_until(lambda: api.get(f"/apis/{widgets}/v1/namespaces/{namespace}/widgets/w") is not None)
    engine.send_signal(2)
    threading.Timer(1.0, engine.send_signal, [2]).start()
    text, _ = engine.communicate(timeout=20)
    assert engine.returncode != 0
    if not plugin_choice().find(LANGUAGE).official:  # that one prints Python's KeyboardInterrupt; ./hpc leaves it out
        assert "Traceback" not in text


def test_interrupted_create_is_imported_and_waited_for(
    stack: Stack, api: Cluster, namespace: str, widgets: str
) -> None:
    """An object whose create was killed can be imported; the next update waits for it and does not create it again."""
    path = f"/apis/{widgets}/v1/namespaces/{namespace}/widgets/w"
    stack.configure(widget("w", namespace, {"n": 1}, annotations={"pulumi.com/waitFor": "condition=Ready"}))
    engine = stack.start_pulumi("up", "--yes", "--skip-preview")
    wait_until(lambda: api.get(path) is not None)
    engine.kill()
    engine.wait()
    uid = api.get(path)["metadata"]["uid"]
    assert stack.pulumi("cancel", "--yes").status == 0
    token = "kubernetes:kit.example.com/v1:Widget"
    provider = f"cluster=urn:pulumi:{stack.name}::{stack.project}::pulumi:providers:kubernetes::cluster"
    flags = ("--yes", "--skip-preview", "--generate-code=false", "--protect=false", "--provider", provider)
    imported = stack.pulumi("import", token, "w", f"{namespace}/w", *flags)
    assert imported.status == 0, imported.text
    with meanwhile(set_status(api, path, {"conditions": [{"type": "Ready", "status": "True"}]})):
        done = stack.up()
    assert done.status == 0, done.text
    assert not stack.resources()["w"].get("initErrors")
    assert api.get(path)["metadata"]["uid"] == uid
