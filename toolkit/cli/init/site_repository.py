"""A site's own repository: stacks and what belongs to them, with the product as a submodule at one version."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from core.project import PRODUCT
from toolkit.cli.init import file_text
from toolkit.cli.shared.errors import Problem

GITHUB = "https://github.com"
_FOLDER = "product"
_TEMPLATES = Path(__file__).with_name("site_files")
_WORKFLOWS = ("main.yml", "nightly.yml", "pull-request.yml")
_PLACES = {
    "Pulumi.yaml": "Pulumi.yaml",
    "hpc": "hpc",
    "README.txt": "README.md",
    "gitignore": ".gitignore",
    "gitlab-ci.yml": ".gitlab-ci.yml",
    **{f"github/{name}": f".github/workflows/{name}" for name in _WORKFLOWS},
}
"""Template -> the file in the repository."""
_ACTION = re.compile(r"@((?:actions|github)/[\w/-]+)@$", re.MULTILINE)
_PINNED = re.compile(r"uses: ((?:actions|github)/[\w/-]+)(@\S+ # \S+)$", re.MULTILINE)
_OF_SERVERS = {
    "actions/checkout": "v4",
    "actions/download-artifact": "v3",
    "actions/upload-artifact": "v3",
    "github/codeql-action/upload-sarif": "v3",
}
"""Versions that GitHub Enterprise Server brings along; artifacts of v4 need github.com."""


def texts(name: str, server: str = GITHUB) -> Mapping[str, str]:
    """Return the files of the repository `name` by their paths; its workflows run on the GitHub of `server`."""
    actions = _actions(server)
    written = {place: (_TEMPLATES / template).read_text() for template, place in _PLACES.items()}
    return {
        place: _ACTION.sub(lambda match: match[1] + actions[match[1]], text.replace("@NAME@", name))
        for place, text in written.items()
    }


def _actions(server: str) -> Mapping[str, str]:
    """Return the version of each action: the commits that our own workflows pin, or those of an own server."""
    if server.rstrip("/") != GITHUB:
        return {name: f"@{version}" for name, version in _OF_SERVERS.items()}
    workflows = (path.read_text() for path in sorted((PRODUCT / ".github" / "workflows").glob("*.yml")))
    return dict(pin for text in workflows for pin in _PINNED.findall(text))


def create(folder: Path, product: str | None, version: str | None, server: str, *, force: bool) -> list[str]:
    """Make a repository in `folder`, and return the paths of its files; all is staged, and nothing committed.

    `product` is the address of the product, by default the one that this checkout came from, else the checkout itself;
    `version` is a tag or commit of it, by default that of this checkout.
    """
    address = product or _origin() or str(PRODUCT)
    commit = version or _git(PRODUCT, "rev-parse", "HEAD", why="this checkout has no commit to pin; name a --version")
    written = {folder / place: text for place, text in texts(folder.absolute().name, server).items()}
    file_text.write(written, force=force)
    (folder / "hpc").chmod(0o755)
    if not (folder / ".git").exists():
        _git(folder, "init", "--quiet", "--initial-branch", "main")
    if not (folder / _FOLDER).exists():
        # From a path, too: git trusts no such submodule by default, and this one is named by its user.
        trusted = ("-c", "protocol.file.allow=always")
        _git(folder, *trusted, "submodule", "--quiet", "add", "--", address, _FOLDER, why=f"no product at {address}")
    _git(folder / _FOLDER, "checkout", "--quiet", "--detach", commit, why=f"{address} has no version {commit}")
    _git(folder, "add", "--", _FOLDER, ".gitmodules", *(str(path.relative_to(folder)) for path in written))
    return [str(path.relative_to(folder)) for path in written]


def _origin() -> str | None:
    process = subprocess.run(
        ["git", "remote", "get-url", "origin"], cwd=PRODUCT, capture_output=True, text=True, check=False
    )
    return process.stdout.strip() or None


def _git(folder: Path, *arguments: str, why: str = "") -> str:
    """Return what git prints; raise Problem with `why`, and with its own message."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Problem("git is not installed", "Install it: the repository has the product as a submodule.") from None
    if done.returncode != 0:
        message = next(reversed(done.stderr.strip().splitlines()), f"exit status {done.returncode}")
        raise Problem(
            f"{why or f'git {arguments[0]} failed in {folder}'}: {message}",
            "Name the product by --product URL and --version REF, and run it again with --force.",
        )
    return done.stdout.strip()
