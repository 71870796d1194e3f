"""States of the legacy layout: what the real engine does with them, and that `./hpc state check` says so."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.messages import has
from toolkit.cli.shared.backends import bucket_setup, layout
from toolkit.cli.shared.backends.backend import Backend, of_url
from toolkit.cli.shared.backends.bucket import BucketStore
from toolkit.cli.shared.backends.bucket_parts import BAD, GOOD, Finding
from toolkit.cli.state import check
from toolkit.engine.tools import find

pytestmark = pytest.mark.engine

_RESOURCE = {"urn": "urn:pulumi:lab::hpc::pulumi:pulumi:Stack::hpc-lab", "custom": False, "type": "pulumi:pulumi:Stack"}
_MANIFEST = {"time": "2023-01-01T00:00:00Z", "magic": "", "version": "v3.50.0"}
_STATE = {"version": 3, "checkpoint": {"stack": "lab", "latest": {"manifest": _MANIFEST, "resources": [_RESOURCE]}}}


@pytest.fixture(params=["folder", "bucket"])
def legacy(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    """Give a backend with a stack as Pulumi wrote it before its states were of projects."""
    folder = tmp_path / "states"
    folder.mkdir(mode=0o700)
    url = f"file://{folder}" if request.param == "folder" else str(request.getfixturevalue("bucket_url"))
    backend = of_url(url)
    assert backend is not None
    if isinstance(backend.store, BucketStore):
        bucket_setup.make(backend.store)
    backend.store.write(".pulumi/stacks/lab.json", json.dumps(_STATE).encode())
    return backend


def _engine(backend: Backend, home: Path, *arguments: str) -> tuple[int, str]:
    own = {"PULUMI_HOME": str(home), "PULUMI_BACKEND_URL": backend.url, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")} | own
    words = [str(find("pulumi")), *arguments, "--non-interactive", "--color", "never"]
    done = subprocess.run(
        words, env=environment, cwd=home.parent, capture_output=True, text=True, timeout=600, check=False
    )
    return done.returncode, done.stdout + done.stderr


def _layout(backend: Backend) -> Finding:
    (finding,) = (row for row in check.check_backend(backend) if row.name == "layout")
    return finding


def test_a_legacy_state_is_refused(legacy: Backend, tmp_path: Path) -> None:
    """The engine refuses a legacy backend, its own upgrade included; a check names the stack and who can upgrade it."""
    for words in (("stack", "ls", "--all"), ("state", "upgrade", "--yes")):
        status, text = _engine(legacy, tmp_path / "home", *words)
        assert status != 0
        assert has(text, "Legacy DIY state is no longer supported", f"v{layout.LAST_WITH_LEGACY} or earlier")
    finding = _layout(legacy)
    assert finding.status == BAD
    assert has(finding.text, "1 stack of the legacy layout", "lab", "refuses")
    assert has(finding.remedy, layout.LAST_WITH_LEGACY, "`pulumi state upgrade`")
    (row,) = check.check_stack(legacy, "lab")
    assert (row.status, "legacy layout" in row.text) == (BAD, True)
    assert legacy.store.keys(".pulumi/") == [".pulumi/stacks/lab.json"]


def test_a_legacy_state_beside_todays_is_upgraded(legacy: Backend, tmp_path: Path) -> None:
    """Beside today's layout the engine ignores a legacy state, which a check names; the remedy that it has works."""
    legacy.store.write(layout.META, b"version: 1\n")
    status, text = _engine(legacy, tmp_path / "home", "stack", "ls", "--all")
    assert status == 0
    assert has(text, "Found legacy stack files", "- lab")
    finding = _layout(legacy)
    assert finding.status == BAD
    assert has(finding.text, "lab", "ignores")
    assert finding.remedy.startswith("`pulumi state upgrade`")
    status, text = _engine(legacy, tmp_path / "home", "state", "upgrade", "--yes")
    assert status == 0, text
    assert _layout(legacy) == Finding("layout", GOOD, "states by project")
    assert legacy.stacks() == ["lab"]
    assert len(legacy.resources("lab")) == 1
