"""What the stacks of this checkout declare, which many commands under test ask for: a stack is recorded once a process.

Loaded as a plugin before what imports `registrations` by its name.
"""

from functools import cache
from pathlib import Path

from toolkit.render import manifests
from toolkit.render.recorder import Registration

_record = manifests.registrations
_READ = ("Pulumi.*.yaml", "stacks/examples/*.yaml", "stacks/bases/*.yaml", "data/*")
"""Files that a test may write; their times tell whether one did."""


def _registrations(stack: str, root: Path = manifests.ROOT, *, first_preview: bool = False) -> tuple[Registration, ...]:
    """Return what `toolkit.render.manifests.registrations` does."""
    if root != manifests.ROOT:
        return _record(stack, root, first_preview=first_preview)
    files = sorted(path for pattern in _READ for path in root.glob(pattern))
    return _of_checkout(stack, first_preview, tuple((path, path.stat().st_mtime_ns) for path in files))


@cache
def _of_checkout(stack: str, first_preview: bool, _files: tuple[tuple[Path, int], ...]) -> tuple[Registration, ...]:
    return _record(stack, first_preview=first_preview)


manifests.registrations = _registrations
