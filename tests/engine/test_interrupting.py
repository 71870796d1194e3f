"""Waits that are interrupted; what counts as ready is in tests/contract/provider/cases/waiting.yaml."""

import threading

import pytest

from tests.engine.kit import Cluster, Stack, wait_until, widget
from toolkit.engine.plugins.locate import LANGUAGE, plugin_choice

pytestmark = pytest.mark.engine


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


def test_interrupted_create_is_imported(stack: Stack, api: Cluster, namespace: str, widgets: str) -> None:
    """An object whose create was killed can be imported; the next update does not create it again."""
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
    api.patch(f"{path}/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, manager="controller")
    done = stack.up()
    assert done.status == 0, done.text
    assert not stack.resources()["w"].get("initErrors")
    assert api.get(path)["metadata"]["uid"] == uid
