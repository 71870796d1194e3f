"""The language host: configuration, secrets, stack references, errors, policy packs, and sudden ends."""

import os
import signal
from pathlib import Path

import pytest

from tests.engine.kit import PROGRAMS, Cluster, Stack, thing, wait_until

pytestmark = pytest.mark.engine

SECRET = "correct-horse-battery"


def test_typed_program_with_secrets(stack: Stack, api: Cluster, tmp_path: Path) -> None:
    """Prevents passwords in plain text in the state, unknown values reaching the API, and lost configuration."""
    typed = Stack(tmp_path / "typed", api, project="typed").start("typed.py")
    program = typed.folder / "program" / "__main__.py"
    program.write_text(program.read_text().replace('Config("kit")', 'Config("typed")'))
    assert typed.pulumi("config", "set", "--secret", "password", SECRET).status == 0
    typed.configure(namespace="engine-typed", provider=typed.provider(enable_config_map_mutable=True))
    preview = typed.preview("--diff")
    assert preview.status == 0, preview.text
    assert SECRET not in preview.text
    done = typed.up()
    assert done.status == 0, done.text
    assert SECRET not in done.text
    secret = api.core.read_namespaced_secret("typed", "engine-typed")
    assert secret.data == {"password": "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5"}
    for leaked in (SECRET, secret.data["password"]):
        assert leaked not in typed.state_file()
    copies = api.core.list_namespaced_config_map("engine-typed", label_selector="of=settings").items
    assert copies[0].data["phase"] == "Active"
    assert copies[0].data["uid"] == api.core.read_namespaced_config_map("settings", "engine-typed").metadata.uid
    assert copies[0].metadata.name.startswith("copy-")
    unchanged = typed.preview("--expect-no-changes")
    assert unchanged.status == 0, unchanged.text
    assert typed.refresh().status == 0
    assert typed.preview("--expect-no-changes").status == 0
    assert SECRET not in typed.state_file()
    outputs = typed.outputs()
    assert (outputs["stack"], outputs["organization"], outputs["dry"]) == ("test", "organization", False)
    assert SECRET in typed.pulumi("stack", "output", "password", "--show-secrets").text

    stack.use("reader.py")
    stack.configure(stack="organization/typed/test")
    read = stack.up()
    assert read.status == 0, read.text
    assert stack.outputs() == {"seen": "test"}
    assert typed.destroy().status == 0


def test_error_is_shown_once(stack: Stack) -> None:
    """Prevents a program's traceback from being hidden, shown twice, or buried in the frames of the host."""
    stack.use("failing.py")
    failed = stack.preview()
    assert failed.status != 0
    diagnostics = failed.text[failed.text.index("Diagnostics:") :]
    assert diagnostics.count("ZeroDivisionError: the plan has no nodes") == 1
    assert diagnostics.count("Traceback (most recent call last)") == 1
    assert 'raise ZeroDivisionError("the plan has no nodes")' in diagnostics
    assert "runpy" not in diagnostics
    assert "simulator/plugins" not in diagnostics.partition("Traceback")[2]


def test_killed_program(stack: Stack, tmp_path: Path) -> None:
    """Prevents an update that looks successful although its program was killed."""
    stack.use("endless.py")
    stack.configure(file=str(tmp_path / "pid"))
    engine = stack.start_pulumi("preview")
    wait_until((tmp_path / "pid").exists)
    wait_until(lambda: (tmp_path / "pid").read_text() != "")
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    text, _ = engine.communicate(timeout=30)
    assert engine.returncode != 0
    assert "The program was ended by SIGKILL before it finished." in text


def test_killed_engine_leaves_no_process(stack: Stack, tmp_path: Path) -> None:
    """Prevents programs and plugins that stay for ever after `kill -9` of the engine."""
    stack.use("endless.py")
    stack.configure(file=str(tmp_path / "pid"))
    engine = stack.start_pulumi("preview")
    wait_until((tmp_path / "pid").exists)
    wait_until(lambda: (tmp_path / "pid").read_text() != "")
    engine.kill()
    engine.wait()
    program = Path("/proc") / (tmp_path / "pid").read_text()
    wait_until(lambda: not program.exists())
    mine = str(stack.folder / "home").encode()
    wait_until(lambda: not [path for path in Path("/proc").glob("[0-9]*/environ") if mine in _read(path)])


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_mandatory_policy_ends_the_preview(stack: Stack, namespace: str) -> None:
    """Prevents a policy pack from being skipped, or its violation from ending in success."""
    fields = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": namespace, "labels": {"forbidden": "true"}},
    }
    stack.configure(thing("a", "kubernetes:core/v1:ConfigMap", fields))
    refused = stack.preview("--policy-pack", str(PROGRAMS / "pack"))
    assert refused.status != 0
    assert "this object is forbidden" in refused.text
    fields["metadata"]["labels"] = {"forbidden": "false"}  # type: ignore[index]
    stack.configure(thing("a", "kubernetes:core/v1:ConfigMap", fields))
    allowed = stack.preview("--policy-pack", str(PROGRAMS / "pack"))
    assert allowed.status == 0, allowed.text


def test_missing_environment(stack: Stack) -> None:
    """Prevents a wrong virtualenv in Pulumi.yaml from ending in a stack trace of the host."""
    path = stack.folder / "Pulumi.yaml"
    path.write_text(path.read_text().replace("virtualenv: ", "virtualenv: /nowhere"))
    failed = stack.preview()
    assert failed.status != 0
    assert "has no bin/python. Make the environment" in failed.text
    assert "Traceback" not in failed.text
