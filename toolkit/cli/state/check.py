"""`./hpc state check`: the status of a backend and of a stack in it, a line for each thing."""

import os
import socket
from pathlib import Path

import typer

from core.wording import plural, some
from toolkit.cli.shared.backends import bucket_setup, layout, older_states
from toolkit.cli.shared.backends.backend import CLUSTER_UID, Backend, without_login
from toolkit.cli.shared.backends.bucket import BucketStore
from toolkit.cli.shared.backends.bucket_parts import BAD, GOOD, PARTS, UNKNOWN, BucketOptions, Finding
from toolkit.cli.shared.backends.store import FolderStore
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.environment import WRONG_PASSPHRASE, require_passphrase
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import OtherName
from toolkit.cli.shared.stack import Stack
from toolkit.cli.state import selection
from toolkit.cli.state.selection import BackendUrl, SomeStack, print_findings
from toolkit.engine.tools.versions import PULUMI

_LISTED = 8  # stacks by name
_PLURALS = {older_states.COPY: "copies"}
PROBE = f".pulumi/hpc-probe-{socket.gethostname()}-{os.getpid()}"


def command(*, backend_url: BackendUrl = None, stack_name: SomeStack = None, name: OtherName = None) -> None:
    """Check a backend and a stack's state in it.

    Exit status 1 where a check fails.
    """
    backend, stack = selection.meant(backend_url, stack_name, name)
    rows = check_backend(backend, stack.options if stack else f"--backend '{without_login(backend.url)}'")
    if stack is not None and rows[0].status == GOOD:
        rows += check_stack(backend, stack.name, stack.options)
        if backend.has(stack.name):
            rows += check_cluster(backend, stack)
            rows.append(check_passphrase(stack, selection.engine(stack, backend)))
    print_findings(rows)
    if any(row.status == BAD for row in rows):
        raise typer.Exit(1)


def check_backend(backend: Backend, options: str = "--stack STACK") -> list[Finding]:
    """Return the status of a backend: what its bucket needs, and whether it can be written; nothing is created.

    `options` are those by which a command means it.
    """
    if not isinstance(backend.store, BucketStore):
        rows = _folder(backend.store, options)
        made = not isinstance(backend.store, FolderStore) or backend.store.folder.is_dir()
        return [*rows, _probe(backend), _layout(backend)] if made else rows
    if not bucket_setup.exists(backend.store):
        remedy = f"`./hpc state init {options}` creates it."
        return [Finding("bucket", BAD, f"there is none on {backend.store.location.where}", remedy)]
    here = Finding("bucket", GOOD, f"{backend.store.location.bucket} on {backend.store.location.where}")
    return [
        here,
        *(bucket_setup.inspect(backend.store, part, BucketOptions()) for part in PARTS),
        _probe(backend),
        _layout(backend),
    ]


def check_stack(backend: Backend, name: str, options: str = "") -> list[Finding]:
    """Return the status of a stack's state; `options` are those by which a command means it."""
    options = options or f"--stack {name}"
    if not backend.has(name):
        if name in layout.of(backend.store).legacy:
            return [Finding("stack", BAD, f"{name} is in the legacy layout alone", "Upgrade the layout.")]
        return [Finding("stack", BAD, f"there is no {name}", f"`./hpc state init {options}` creates it.")]
    try:
        latest = backend.checkpoint(name)
    except Problem as problem:
        return [_wrong("stack", problem)]
    count, size = len(older_states.resources(latest)), len(backend.read(name) or b"")
    pending = latest.get("pending_operations") or []
    locked, busy = _locks(backend, name, options)
    unfinished = Finding("interrupted", GOOD, "nothing")
    if pending:
        unfinished = Finding(
            "interrupted",
            UNKNOWN if busy else BAD,
            f"{len(pending)} operations {'are under way' if busy else 'were under way when an update ended'}",
            "" if busy else f"`./hpc state repair {options}`, or the next `./hpc up {options}`, settles them.",
        )
    return [
        Finding("stack", GOOD, f"{name}: {plural(count, 'resource')}, {size / 1e6:.1f} MB"),
        locked,
        unfinished,
        _kept(backend, name),
    ]


def check_passphrase(stack: Stack, running: Engine) -> Finding:
    """Return whether the key that a user has now opens the state; the engine tries it."""
    try:
        require_passphrase(stack, running.environment)
        running.call("stack", "export", "--show-secrets", "--stack", stack.name)  # decrypts all, and shows none
    except Problem as problem:
        lines = [line for line in str(problem).splitlines() if "passphrase" in line and "warning:" not in line]
        return Finding("key of secrets", BAD, lines[0].strip() if lines else str(problem), WRONG_PASSPHRASE)
    return Finding("key of secrets", GOOD, "opens the state")


def check_cluster(backend: Backend, stack: Stack) -> list[Finding]:
    """Return which cluster a stack belongs to, where that is noted, and how its settings name it, too."""
    uid = backend.tags(stack.name).get(CLUSTER_UID)
    if not uid or stack.simulated:
        return []
    if stack.settings.cluster.uid is None:
        file = stack.platform_file.name
        more = f"; `uid: {uid}`, below `cluster:` in {file}, restricts plain `pulumi` to it, too"
        return [Finding("cluster", GOOD, f"{uid}{more}")]
    return [Finding("cluster", GOOD, uid)]


def _folder(store: object, options: str) -> list[Finding]:
    if not isinstance(store, FolderStore):
        return []
    folder = store.folder
    if not folder.is_dir():
        return [Finding("folder", BAD, f"there is no {folder}", f"`./hpc state init {options}` creates it.")]
    open_to_all = folder.stat().st_mode & 0o022
    if open_to_all and not _inside_private(folder):
        return [Finding("folder", BAD, f"others may write into {folder}", f"`chmod go-w {folder}`.")]
    return [Finding("folder", GOOD, f"{folder}, on this machine only")]


def _inside_private(folder: Path) -> bool:
    return any(not above.stat().st_mode & 0o011 for above in folder.parents)


def _probe(backend: Backend) -> Finding:
    """Write, read and remove an object, as the engine will."""
    content = os.urandom(16).hex().encode()
    try:
        backend.store.write(PROBE, content)
        same = backend.store.read(PROBE) == content
        backend.store.remove(PROBE)
    except Problem as problem:
        return _wrong("write and read", problem)
    except OSError as error:
        return Finding("write and read", BAD, str(error), "Check permissions and free space.")
    if not same:
        return Finding("write and read", BAD, "what was written was not read back", "The store is not reliable.")
    return Finding("write and read", GOOD, "an object was written, read and removed")


def _layout(backend: Backend) -> Finding:
    """Return whether the engine reads the backend's layout, with the stacks of the legacy one by name."""
    try:
        arranged = layout.of(backend.store)
    except Problem as problem:
        return _wrong("layout", problem)
    stacks = f"{plural(len(arranged.legacy), 'stack')} of the legacy layout, without projects"
    if arranged.legacy:
        stacks += f": {some([*arranged.legacy], _LISTED)}"
    upgrade = "`pulumi state upgrade`, after a copy of `.pulumi/`, moves them to their projects"
    if arranged.is_legacy:
        what = f"{stacks}; Pulumi {PULUMI} refuses the backend"
        last = layout.LAST_WITH_LEGACY
        return Finding("layout", BAD, what, f"With Pulumi {last} or earlier, the last that can: {upgrade}.")
    if arranged.damaged:
        remedy = f"Restore it from a copy; of stacks in `.pulumi/stacks/PROJECT/` it is `version: {layout.CURRENT}`."
        return Finding("layout", BAD, f"{backend.store.where(layout.META)} has no version", remedy)
    if arranged.refused:
        what = f"version {arranged.version} of {backend.store.where(layout.META)}, which Pulumi {PULUMI} refuses"
        return Finding("layout", BAD, what, "Use the version of Pulumi that wrote it.")
    if arranged.legacy:
        return Finding("layout", BAD, f"{stacks}; Pulumi {PULUMI} ignores them", f"{upgrade}.")
    return Finding("layout", GOOD, "states by project")


def _locks(backend: Backend, name: str, options: str) -> tuple[Finding, bool]:
    """Return the row of the lock, and whether someone is at work."""
    try:
        locks = backend.locks(name)
    except Problem as problem:
        return _wrong("lock", problem), False
    if not locks:
        return Finding("lock", GOOD, "free"), False
    holders = "; ".join(lock.holder for lock in locks)
    if all(backend.is_dead(lock) for lock in locks):
        remedy = f"`./hpc state repair {options}`, or the next `./hpc up {options}`, removes it."
        return Finding("lock", BAD, f"held by {holders}, which is dead", remedy), False
    remedy = f"If it has certainly exited: `./hpc pulumi {options} cancel`."
    return Finding("lock", UNKNOWN, f"held by {holders}", remedy), True


def _kept(backend: Backend, name: str) -> Finding:
    states = [state for state in older_states.kept(backend, name) if not state.latest]
    numbers = {
        kind: sum(state.kind == kind for state in states)
        for kind in (older_states.VERSION, older_states.UPDATE, older_states.COPY)
    }
    listed = ", ".join(plural(number, kind, _PLURALS.get(kind, "")) for kind, number in numbers.items() if number)
    return Finding("older states", GOOD, listed or "none yet")


def _wrong(name: str, problem: Problem) -> Finding:
    what, _, remedy = str(problem).partition("\n")
    return Finding(name, BAD, what, remedy)
