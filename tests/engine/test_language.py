"""The language host with a cluster: configuration, secrets, stack references, and sudden ends.

What it does with programs and policy packs is in tests/contract/language.
"""

from pathlib import Path

import pytest

from tests.engine.kit import Cluster, Stack, wait_until
from toolkit.engine.plugins.locate import LANGUAGE, plugin_choice

pytestmark = pytest.mark.engine

SECRET = "correct-horse-battery"


def test_typed_program_with_secrets(stack: Stack, api: Cluster, tmp_path: Path) -> None:
    """A typed program gets its configuration; secrets stay encrypted, and no unknown value reaches the API."""
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


def test_killed_engine_leaves_no_process(stack: Stack, tmp_path: Path) -> None:
    """Programs and plugins end with the engine, even by `kill -9`."""
    if plugin_choice().find(LANGUAGE).official:
        pytest.skip("the official language host (3.260) leaves a program running after `kill -9` of the engine")
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
