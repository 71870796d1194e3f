"""kwok stages of our own: how nodes become Ready and how pods start, end and go.

They select on the annotations of `names` that the actors set. kwok's built-in
stages complete a launcher whose workers are Pending, so they are not used: one `--config` per file of `files()`.

Every patch names the version that it was made for. kwok runs stages of one pod in parallel when changes come close
together; without that a late patch of an earlier stage took a running pod back to ContainerCreating.
"""

from pathlib import Path


def files() -> tuple[Path, ...]:
    """Return the stage files, for kwok's `--config` option."""
    return tuple(sorted(Path(__file__).parent.glob("*.yaml")))
