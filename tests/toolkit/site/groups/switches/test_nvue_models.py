"""Files for NVUE against NVIDIA's own schema of the version, as PyPI's nvueschema has it."""

from importlib import import_module

import pytest
import yaml

from tests.toolkit.site.groups.switches.kit import facts, first
from toolkit.site.groups import switches

pytestmark = pytest.mark.engine  # importing the model of one version takes seconds


def content(stack: str, version: str) -> dict[str, object]:
    """Return what the file of a stack's first switch sets, written for a version."""
    ports = {f"swp{number}": cable for number, cable in enumerate(first(facts(stack)).ports.values(), 1)}
    found = facts(stack, dialect=f"nvue-{version}", ports=ports, vlan=111, management="192.168.1.9/24")
    switch = first(found)
    (each,) = yaml.safe_load(switches.of(switch).text(switch, found))
    whole: dict[str, object] = each["set"]
    return whole


@pytest.mark.parametrize("version", ["5.0", "5.14", "5.15", "5.18"])
def test_a_file_is_whole_after_the_models(version: str) -> None:
    """Nothing of a file is refused, and nothing is dropped, as the models do with a key that they do not know."""
    model = import_module(f"nvueschema.models.v{version.replace('.', '_')}").NvueConfig
    for stack in ("h100-roce", "robotic-drive-ethernet"):
        wanted = content(stack, version)
        found = model.model_validate(wanted).model_dump(exclude_unset=True, by_alias=True, mode="json")
        assert found == wanted
    unknown = {"qos": {"roce": {"mode": "lossless", "enabel": "on"}}}
    assert model.model_validate(unknown).model_dump(exclude_unset=True, by_alias=True, mode="json") != unknown
