"""A site's own repository, with the product as a submodule: commands and plain `pulumi` work in it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from simulator.plugins.locate import plugin_choice
from simulator.tools import find
from tests.support import checkouts
from tests.support.followed import walked

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
    walked(f"git init -q && git add -A -- . ':!.venv' && git {_WHO} commit -q -m product", checkout)
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
