"""Two commits compared, on a small repository: its program is hostile, or old, or wrong."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from toolkit.cli.diff import commits, isolation
from toolkit.cli.shared.errors import Problem
from toolkit.review.model import Op

pytestmark = pytest.mark.engine  # no engine, but processes: too slow for the unit layer

SETTINGS = "class SettingsError(Exception):\n    pass\n"
PROGRAM = """
import json, pathlib
from dataclasses import dataclass
from typing import Any
from stacks.loading.settings import SettingsError

@dataclass
class Old:
    type: str
    urn: str
    inputs: Any

def registrations(stack):
    content = json.loads((pathlib.Path(__file__).parents[2] / f"Pulumi.{stack}.yaml").read_text())
    if "wrong" in content:
        raise SettingsError(content["wrong"])
    exec(content.get("code", ""))
    head = "urn:pulumi:dev::hpc::pulumi:pulumi:Stack$kubernetes:core/v1:ConfigMap::"
    found = {**content.get("objects", {}), **globals().get("more", {})}
    made = ((head + name, {"metadata": {"name": name}, "data": data}) for name, data in found.items())
    return [Old("kubernetes:core/v1:ConfigMap", *each) for each in made]
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository whose program knows neither reviews nor options of resources."""
    root = tmp_path / "repository"
    for name, text in {"stacks/loading/settings.py": SETTINGS, "toolkit/render/manifests.py": PROGRAM}.items():
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(text)
    monkeypatch.setattr(commits, "ROOT", root)
    git(root, "init", "--quiet")
    return root


def git(root: Path, *arguments: str) -> None:
    """Run git under a made-up name."""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path, **stacks: Any) -> None:
    """Commit stacks: their objects by name, or what is wrong with them."""
    for file in root.glob("Pulumi.*.yaml"):
        file.unlink()
    for stack, content in stacks.items():
        (root / f"Pulumi.{stack}.yaml").write_text(json.dumps(content))
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message", "x")


def rendered(root: Path, *sides: dict[str, Any]) -> tuple[commits.Side, ...]:
    """Commit both sides of stack dev and render them."""
    found = []
    for content in sides:
        commit(root, dev=content)
        name = commits.commit("HEAD")
        with commits._checkout(name) as folder:
            found.append(commits.side("dev", name, folder))
    return tuple(found)


def test_commits_are_compared_by_object(repository: Path) -> None:
    """Two commits are compared object by object; one from before there were reviews is rendered, too."""
    commit(repository, dev={"objects": {"a": {"k": "1"}, "b": {"k": "1"}, "c": {"k": "1"}}})
    commit(repository, dev={"objects": {"a": {"k": "1"}, "b": {"k": "2"}, "d": {"k": "1"}}})
    found = commits.compare("dev", "HEAD~1", "HEAD", None)
    assert {change.resource.name: change.op for change in found.changes} == {
        "a": Op.SAME,
        "b": Op.REPLACE,  # nothing says that the provider may change a ConfigMap in place
        "c": Op.DELETE,
        "d": Op.CREATE,
    }
    assert not found.cluster_queried
    assert found == commits.compare("dev", "HEAD~1", "HEAD", None)
    assert not list((repository / ".git" / "worktrees").glob("*")), "a checkout is left behind"


@pytest.mark.skipif(not isolation.networkless(), reason="users have no namespaces here")
def test_hostile_code_gets_no_credentials_and_no_network(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit's code gets none of the user's variables, an empty home, and no network."""
    for name in (
        "PULUMI_ACCESS_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "KUBECONFIG",
        "PULUMI_CONFIG_PASSPHRASE",
        "SSH_AUTH_SOCK",
    ):
        monkeypatch.setenv(name, "planted")
    monkeypatch.setenv("PYTHONPATH", str(repository / "planted"))
    code = """
import os, socket, sys
global more
try:
    socket.create_connection(("127.0.0.1", PORT), 1)
    reached = "reached"
except OSError as error:
    reached = str(error.errno)
more = {"seen": {"environment": dict(os.environ), "network": reached, "path": sys.path}}
"""
    import socket  # noqa: PLC0415

    with socket.create_server(("127.0.0.1", 0)) as server:
        (found,) = rendered(repository, {"code": code.replace("PORT", str(server.getsockname()[1]))})
    assert found.resources is not None, found.error
    seen = found.resources[0].resource.inputs["data"]
    assert "planted" not in json.dumps(seen)
    assert set(seen["environment"]) <= {"PATH", "HOME", "TMPDIR", "LANG", "LC_CTYPE", "PULUMI_SKIP_UPDATE_CHECK"}
    assert seen["environment"]["HOME"] != os.environ.get("HOME")
    assert seen["network"] != "reached"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"wrong": "hpc:platform.nodes: is missing"}, "hpc:platform.nodes: is missing"),
        ({"code": "raise ValueError('no such thing')"}, "does not render: ValueError: no such thing"),
        ({"code": "import os; os._exit(7)"}, "does not render: it ended with 7"),
    ],
)
def test_a_commit_that_does_not_render_says_so(repository: Path, content: dict[str, Any], said: str) -> None:
    """A commit whose settings are wrong, or that does not render, is reported as failed with the reason."""
    good, bad = rendered(repository, {"objects": {}}, content)
    assert good.resources == []
    assert bad.resources is None
    assert said in bad.error
    review = commits._review("dev", good, bad, None)
    assert said in review.failed
    assert review.changes == ()


def test_a_stack_that_is_new_or_gone(repository: Path) -> None:
    """A stack that only one of the commits has is all created, or all deleted; one that neither has is an error."""
    commit(repository, dev={"objects": {"a": {}}})
    commit(repository, other={"objects": {"a": {}}})
    new, gone = (commits.compare(stack, "HEAD~1", "HEAD", None) for stack in ("other", "dev"))
    assert [change.op for change in new.changes] == [Op.CREATE]
    assert [change.op for change in gone.changes] == [Op.DELETE]
    with pytest.raises(Problem, match="neither commit has a stack third"):
        commits.compare("third", "HEAD~1", "HEAD", None)
    with pytest.raises(Problem, match="is not a commit"):
        commits.compare("dev", "--upload-pack=x", "HEAD", None)


def test_secrets_of_settings_are_compared_and_not_shown() -> None:
    """Secrets of the settings that differ are named by their path, without their values."""
    content = {"hpc:platform": {"a": [1, {"secure": "v1:e"}]}, "hpc:scale": {"gui": {"secure": "v1:abc"}}}
    assert dict(commits._sealed(content, "")) == {"hpc:platform.a.1": "v1:e", "hpc:scale.gui": "v1:abc"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("config: {}\nconfig: {}\n", "config is given twice"),
        ("config: [\n", "within brackets; close them"),
        ("- a\n", "no mapping"),
        ("config: \xff\n", "can't decode byte 0xff"),
        ("", "Pulumi.dev.yaml is missing"),
    ],
)
def test_secrets_that_cannot_be_read_are_unknown(text: str, reason: str, tmp_path: Path) -> None:
    """A review of settings that this version cannot read says so, and does not conclude that they have no secrets."""
    sides = []
    for name, content in (("a" * 40, "config: {hpc:x: {secure: v1:d}}\n"), ("b" * 40, text)):
        root = tmp_path / name
        root.mkdir()
        if content:
            (root / "Pulumi.dev.yaml").write_bytes(content.encode("latin-1"))
        sides.append(commits.Side(name, root, []))
    warnings = [each for each in commits._warnings("dev", *sides) if "secrets" in each]
    assert len(warnings) == 1
    assert warnings[0].startswith("secrets in the settings of bbbbbbbbbbbb cannot be read (")
    assert reason in warnings[0]
    assert warnings[0].endswith("whether any of them changes could not be determined")
