"""The version of the rules: that of the policy pack."""

from pathlib import Path

from core.yaml import text as yaml_text

_PACK = Path(__file__).with_name("PulumiPolicy.yaml")


def version() -> str:
    """Return the version that PulumiPolicy.yaml gives, from which the engine takes it, e.g. `0.1.0`."""
    return str(yaml_text.read(_PACK.read_text())["version"])
