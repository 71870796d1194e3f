"""Onyx on an InfiniBand switch: its subnet manager, and how it is reached."""

from collections.abc import Iterator, Mapping

from stacks.settings.site.switches import OnyxInfiniBand
from stacks.site.site import Site
from toolkit.site.groups.switches import onyx_script
from toolkit.site.groups.switches.links import full_name, management
from toolkit.site.groups.switches.onyx_statements import parse


def text(switch: OnyxInfiniBand, site: Site) -> str:
    """Return the script; the subnet manager needs the reload at its end."""
    last = ("write memory", "reload") if switch.sm_priority is not None else ("write memory",)
    return onyx_script.text(switch, site, (*_lines(switch, site), *last))


def statements(switch: OnyxInfiniBand, site: Site) -> Mapping[str, str]:
    """Return the statements of its running configuration."""
    return parse(_lines(switch, site)).by_key


def _lines(switch: OnyxInfiniBand, site: Site) -> Iterator[str]:
    yield from management(switch, site)
    yield "no ipv6 enable"
    if switch.sm_priority is None:
        return
    name = full_name(switch, site)
    # The printed list lacks `create`, and the printed configuration has it.
    yield f"ib smnode {name} create"
    yield f"ib smnode {name} enable"
    yield f"ib smnode {name} sm-priority {switch.sm_priority}"
    yield "ib sm virt enable"
