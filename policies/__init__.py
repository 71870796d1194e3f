"""Rules over manifests, as pure functions, and the Pulumi policy pack that runs them.

Importing this must neither need the Pulumi SDK nor start a server.
"""

from pathlib import Path

_PACK = Path(__file__).with_name("PulumiPolicy.yaml")


def version() -> str:
    """Return the version of the rules, which the engine takes from PulumiPolicy.yaml, too, e.g. `0.1.0`."""
    return next(line.split()[1] for line in _PACK.read_text().splitlines() if line.startswith("version:"))
