"""kwok stages of our own: how nodes become Ready and how pods start, end and go.

They select on the annotations of `simulator.names` that the runtime (`simulator.actors`) sets. kwok's built-in
stages complete a launcher whose workers are Pending, so they are not used: one `--config` per file of `files()`.
"""

from pathlib import Path


def files() -> tuple[Path, ...]:
    """Return the stage files, for kwok's `--config` option."""
    return tuple(sorted(Path(__file__).parent.glob("*.yaml")))
