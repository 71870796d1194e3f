"""A site's own repository, with the product as a submodule: commands and plain `pulumi` work in it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import checkouts
from tests.support.page_blocks import walked
from toolkit.cli.init import site_repository
from toolkit.cli.shared.errors import Problem
from toolkit.engine.plugins.locate import plugin_choice
from toolkit.engine.tools import find

pytestmark = pytest.mark.engine

_WHO = "-c user.name=a -c user.email=a@example.org"
_FILES = {
    *(".gitignore", ".gitlab-ci.yml", ".gitmodules", "Pulumi.yaml", "README.md", "hpc", "product"),
    *(f".github/workflows/{name}.yml" for name in ("main", "nightly", "pull-request")),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a site of a commit of the working tree, with a stack, and the packages that run this test."""
    folder = tmp_path_factory.mktemp("site")
    checkout = checkouts.copy(folder)
    walked(f"git init -q && git add -A && git {_WHO} commit -q -m product", checkout)
    walked("./hpc init --site ../lab", checkout)
    site = folder / "lab"
    packages = site / "product" / ".venv"
    packages.mkdir()
    for part in Path(sys.prefix).iterdir():
        (packages / part.name).symlink_to(part)
    (packages / ".installed").unlink(missing_ok=True)
    (packages / ".installed").touch()
    walked(f"./hpc init lab --template h100-roce && git add . && git {_WHO} commit -q -m lab", site)
    return site


def test_nothing_of_the_product_is_in_it(site: Path) -> None:
    """The repository has its own files, and one entry for the product, which no command writes into."""
    assert {*walked("git ls-files", site).split()} == {*_FILES, "Pulumi.lab.yaml"}
    assert "160000" in walked("git ls-files --stage product", site)
    assert not walked("git status --porcelain && git -C product status --porcelain", site)


def test_its_stacks_are_checked(site: Path) -> None:
    """Its own stack is checked, and an example with a base of the product; the product's stacks are not the site's."""
    assert "(0 mandatory" in walked("./hpc check --stack lab", site)
    assert walked("./hpc check --stack nvaie-roce", site)
    assert "known stacks: lab, a2d2," in walked("! ./hpc check --stack prod", site)


def test_pages_and_schemas_are_named_where_they_are(site: Path) -> None:
    """What files and commands name of the product exists from the site's folder."""
    schema = (site / "Pulumi.lab.yaml").read_text().partition("\n")[0].partition("$schema=")[2]
    assert (site / schema).is_file()
    assert "product/docs/guide/first-stack.md" in walked("./hpc --help", site)


def test_its_findings_are_reported(site: Path) -> None:
    """The target that CI runs in the product checks the site's stack, and writes SARIF and JUnit into the site."""
    walked('make -sC product policies STACKS=lab OUT="$PWD/out"', site)
    assert {path.name for path in (site / "out").iterdir()} == {"lab.sarif", "lab.policies.xml"}
    shutil.rmtree(site / "out")


def test_its_own_rules_are_read(site: Path) -> None:
    """Folders of rules are the site's, not the product's."""
    folder, file = site / "rules", site / "Pulumi.lab.yaml"
    text = file.read_text()
    try:
        folder.mkdir()
        shutil.copy(site / "product" / "tests" / "policies" / "own_rules" / "team_label.py", folder)
        file.write_text(text.rstrip("\n") + "\n    policies: {rules: [rules]}\n")
        assert "team-label" in walked("./hpc check --stack lab || true", site)
    finally:
        file.write_text(text)
        shutil.rmtree(folder)


def test_two_commits_are_compared(site: Path) -> None:
    """A commit is rendered by the version of the product that it has."""
    file = site / "Pulumi.lab.yaml"
    text = file.read_text()
    try:
        file.write_text(text.replace("mtu: 9216", "mtu: 9000"))
        assert "fabric-ports updated" in walked("./hpc diff --stack lab --base HEAD", site)
    finally:
        file.write_text(text)
    assert walked("git worktree list", site / "product").count("\n") == 1


def test_plain_pulumi_previews_it(site: Path) -> None:
    """The engine runs the product's program on the site's settings, with the product's policies."""
    (site.parent / "backend").mkdir()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PULUMI_")},
        "PATH": plugin_choice().path,
        "PULUMI_HOME": str(site.parent / "home"),
        "PULUMI_BACKEND_URL": f"file://{site.parent / 'backend'}",
        "PULUMI_CONFIG_PASSPHRASE": "test",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "KUBECONFIG": str(site / "no-kubeconfig"),
    }
    for arguments in (("stack", "init", "lab"), ("preview", "--stack", "lab", "--policy-pack", "product/policies")):
        done = subprocess.run(
            [str(find("pulumi")), *arguments, "--non-interactive", "--color", "never"],
            cwd=site,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "dgx01.h100.example.com" in done.stdout
    assert "hpc@v" in done.stdout
    assert "[mandatory]" not in done.stdout


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """Make a repository that stands for a mirror of the product: two commits, of which the first has a tag."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    (folder / "requirements.txt").touch()
    (folder / "Makefile").write_text("packages:\n\t@mkdir .venv && touch .venv/.installed && echo installed\n")
    (folder / "hpc").write_text('#!/bin/sh\necho "product: $*"\n')
    (folder / "hpc").chmod(0o755)
    commit = f"git {_WHO} commit -q --allow-empty -m"
    walked(f"git init -q && git add . && {commit} one && git tag v1 && {commit} two", folder)
    return folder


def test_a_mirror_and_a_version_are_chosen(mirror: Path, tmp_path: Path) -> None:
    """The submodule is at the version that is named; a clone gets product and packages with its first command."""
    site_repository.create(tmp_path / "site", str(mirror), "v1", site_repository.GITHUB, force=False)
    pinned = walked("git rev-parse v1", mirror)
    assert pinned.strip() in walked("git ls-files --stage product", tmp_path / "site")
    walked(f"git {_WHO} commit -q -m first && git clone -q . ../clone", tmp_path / "site")
    trusting = {**os.environ, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow"}
    trusting["GIT_CONFIG_VALUE_0"] = "always"
    first, second = (walked("./hpc check -f 'a b' 2>&1", tmp_path / "clone", trusting) for _ in range(2))
    assert first.endswith("installed\nproduct: check -f a b\n")
    assert second == "product: check -f a b\n"
    assert walked("git rev-parse HEAD", tmp_path / "clone" / "product") == pinned


@pytest.mark.parametrize(
    ("address", "version", "message"),
    [("mirror", "v9", "mirror has no version v9: .*v9"), ("nowhere", "v1", "no product at .*nowhere: .*nowhere")],
)
def test_a_version_or_a_product_that_is_not_there_is_one_message(
    mirror: Path, tmp_path: Path, address: str, version: str, message: str
) -> None:
    """The message has git's own reason and the two options; with them the command goes on in the same folder."""
    site = tmp_path / "site"
    with pytest.raises(Problem, match=rf"{message}[\s\S]*--product URL and --version REF.*--force"):
        site_repository.create(site, str(tmp_path / address), version, site_repository.GITHUB, force=False)
    site_repository.create(site, str(mirror), "v1", site_repository.GITHUB, force=True)
    assert "A  product" in walked("git status --short", site)
