"""Two commits of a stack, compared without engine and cluster: each is rendered by its own program."""

import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import yaml

from core import project
from core.yaml import text as yaml_text
from stacks.loading import settings as stack_settings
from toolkit.cli.diff import isolation, policy_findings, rendering_child, settings_facts, transition_findings
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.policy_configuration import settled
from toolkit.cli.shared.session import provider_permission
from toolkit.engine.prediction.diff import difference, text_of_path
from toolkit.engine.prediction.inputs import BadInputError, type_of_token
from toolkit.review import renders
from toolkit.review.model import Resource, Review
from toolkit.review.renders import Rendered

WORKING_TREE = "working tree"
_LARGEST = 64 << 20  # bytes; the render of 300 tenants has three
_PROVIDER = "pulumi:providers:kubernetes"
_MUTABLE = {"enableSecretMutable": "Secret", "enableConfigMapMutable": "ConfigMap"}


@dataclass(frozen=True)
class Side:
    """A stack at one commit: `resources` is None where its settings are wrong, and `error` is why."""

    name: str
    root: Path
    resources: list[Rendered] | None
    absent: bool = False
    error: str = ""


def compare(stack: str, base: str, head: str, config: Path | None) -> Review:
    """Return what an update from commit `base` to `head` would do, as far as that can be determined without a cluster.

    Raises Problem where a commit is not there, or neither has the stack.
    """
    names = (commit(base), head if head == WORKING_TREE else commit(head))
    with _checkout(names[0]) as base_root, _checkout(names[1]) as head_root:
        with ThreadPoolExecutor() as pool:
            before, after = pool.map(lambda name, root: side(stack, name, root), names, (base_root, head_root))
        return _review(stack, before, after, config)


def commit(name: str) -> str:
    """Return the full name of a commit; raise Problem where it is not in this repository."""
    done = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if done.returncode != 0:
        raise Problem(
            f"{name} is not a commit of this repository",
            "Fetch it (`git fetch origin ...`; a shallow clone has few), or name another.",
        )
    return done.stdout.strip()


def side(stack: str, name: str, root: Path) -> Side:
    """Render a stack by the program of a checkout; without a program it has no stacks."""
    product = project.product_in(root)
    if not product.is_dir():
        return Side(name, root, [], absent=True)
    with tempfile.TemporaryDirectory(prefix="hpc-render-") as folder:
        target = Path(folder) / "rendered.json"
        try:
            isolation.run(Path(rendering_child.__file__), str(root), str(product), stack, str(target))
            if target.is_symlink() or target.stat().st_size > _LARGEST:
                raise Problem("it wrote something other than a render", "")
            content = json.loads(target.read_text().replace(str(root), str(ROOT)))
        except (Problem, OSError, ValueError, RecursionError) as error:
            return Side(name, root, None, error=f"the program does not render: {error}".strip())
    if not isinstance(content, Mapping):
        return Side(name, root, None, error="the program does not render: its output is not a render")
    if content.get("absent"):
        return Side(name, root, [], absent=True)
    if content.get("error"):
        return Side(name, root, None, error=str(content["error"]))
    resources = [renders.read(entry) for entry in content.get("resources") or () if isinstance(entry, Mapping)]
    return Side(name, root, resources)


def _review(stack: str, before: Side, after: Side, config: Path | None) -> Review:
    if before.absent and after.absent:
        raise Problem(f"neither commit has a stack {stack}", "Name another with --stack.")
    changes = renders.compare(before.resources or [], after.resources or [], _difference(after.resources or []))
    failed = [f"{_short(rendered.name)}: {rendered.error}" for rendered in (before, after) if rendered.error]
    whole = Review(
        stack,
        () if failed else changes,
        failed="\n".join(failed),
        cluster_queried=False,
        compared=(_short(before.name), _short(after.name)),
        warnings=tuple(sorted(_warnings(stack, before, after))),
    )
    if after.absent or after.resources is None:
        return whole
    try:
        settings = stack_settings.load(stack, after.root)
    except stack_settings.SettingsError as error:
        warning = f"hardware of the nodes unknown: this version does not accept these settings ({_line(str(error))})"
        return replace(whole, warnings=tuple(sorted({*whole.warnings, warning})))
    policies = settled(settings, config)
    day = _day(after.name)
    facts = settings_facts.of(settings, after.root)
    cautions = tuple(filter(None, [provider_permission(settings.cluster)]))
    findings = policy_findings.judged((rendered.resource for rendered in after.resources), policies, day)
    review = policy_findings.compared(replace(whole, findings=findings, facts=facts, cautions=cautions), policies, day)
    return replace(review, findings=(*review.findings, *transition_findings.of(before.resources or [], settings)))


def _day(name: str) -> date | None:
    """Return the day of a commit, by which its exceptions are judged: so a comparison is the same on every day.

    None for the working tree, which is of today.
    """
    if name == WORKING_TREE:
        return None
    return datetime.fromtimestamp(int(_git("show", "--no-patch", "--format=%ct", name).stdout), UTC).date()


def _warnings(stack: str, before: Side, after: Side) -> Iterator[str]:
    if not isolation.networkless():
        yield "this machine cannot isolate a process from the network: the programs of both commits had access to it"
    if before.absent or after.absent:
        return
    read: list[dict[str, str]] = []
    for commit in (before, after):
        try:
            read.append(_secrets(stack, commit.root))
        except _UnreadableError as error:
            yield (
                f"secrets in the settings of {_short(commit.name)} cannot be read ({error}), so whether any of them "
                "changes could not be determined"
            )
    if len(read) < 2:  # noqa: PLR2004 - two sides
        return
    former, other = read
    if changed := sorted(key for key in former.keys() | other.keys() if former.get(key) != other.get(key)):
        yield f"secrets of the settings differ, and what depends on them changes: {', '.join(changed)}"


def _secrets(stack: str, root: Path) -> dict[str, str]:
    """Return the encrypted values in a stack's settings, by their path; they are compared, and never shown.

    Raises _UnreadableError, with the reason in a line, where that cannot be determined.
    """
    try:
        content = yaml_text.read(stack_settings.file(stack, root).read_text())
        if not isinstance(content, Mapping):
            raise _UnreadableError("the file has no mapping")
        return dict(_sealed(content.get("config"), ""))
    except (stack_settings.SettingsError, yaml.YAMLError, OSError, UnicodeDecodeError, RecursionError) as error:
        raise _UnreadableError(_line(str(error))) from error


class _UnreadableError(Exception):
    """Settings of a commit that this version cannot read: its own program may."""


def _sealed(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and set(value) == {"secure"}:
        yield path, str(value["secure"])
        return
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield from _sealed(item, f"{path}.{key}" if path else str(key))


def _difference(after: list[Rendered]) -> renders.Difference:
    """Return the provider's own rules, as far as they need no cluster."""
    provider = next((rendered.resource.inputs for rendered in after if rendered.resource.type == _PROVIDER), {})
    mutable = frozenset(kind for key, kind in _MUTABLE.items() if str(provider.get(key)).lower() == "true")

    def differs(old: Resource, new: Resource) -> Mapping[str, bool]:
        try:
            kind = type_of_token(new.type)
            result = difference(dict(old.inputs), dict(old.manifest), dict(new.inputs), kind, mutable_kinds=mutable)
        except (BadInputError, TypeError, AttributeError, KeyError):  # no object that a provider would take
            return {"": False}
        return {text_of_path(change.path): change.replaces for change in result.changes}

    return differs


@contextmanager
def _checkout(name: str) -> Iterator[Path]:
    """Yield a folder with a commit, which goes afterwards; the working tree is where it is."""
    if name == WORKING_TREE:
        yield ROOT
        return
    with tempfile.TemporaryDirectory(prefix="hpc-commit-") as folder:
        root = Path(folder).resolve() / "checkout"
        done = _git("worktree", "add", "--detach", "--force", "--quiet", str(root), name)
        try:
            if done.returncode != 0:
                raise Problem(f"git cannot check {_short(name)} out: {_line(done.stderr)}")
            with _product(name, root):
                yield root
        finally:
            _git("worktree", "remove", "--force", "--force", str(root))


@contextmanager
def _product(name: str, root: Path) -> Iterator[None]:
    """Check out the product at the version that a commit of a site's repository names, where it is a submodule."""
    path = project.PRODUCT.relative_to(project.FOLDER).as_posix()
    entry = _git("ls-tree", name, "--", path).stdout.split() if path != "." else []
    if entry[1:2] != ["commit"]:
        yield
        return
    folder, version = project.product_in(root), entry[2]
    done = _git("worktree", "add", "--detach", "--force", "--quiet", str(folder), version, folder=project.PRODUCT)
    try:
        if done.returncode != 0:
            raise Problem(
                f"git cannot check {path} out at {version[:12]}, as {_short(name)} has it: {_line(done.stderr)}",
                f"Fetch it: `git -C {path} fetch origin {version}`.",
            )
        yield
    finally:
        _git("worktree", "remove", "--force", "--force", str(folder), folder=project.PRODUCT)


def _git(*arguments: str, folder: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run git on a repository, by default the project's, without hooks and without prompts."""
    try:
        return subprocess.run(
            ["git", "-c", "core.hooksPath=/dev/null", *arguments],
            cwd=folder or ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError:
        raise Problem("git is not installed", "Install it: commits are compared by it.") from None


def _short(name: str) -> str:
    return name if name == WORKING_TREE else name[:12]


def _line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")
