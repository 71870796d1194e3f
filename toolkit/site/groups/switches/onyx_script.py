"""The frame of a script for Onyx."""

from collections.abc import Iterable

from stacks.settings.site.switches import Switch
from stacks.site.site import Site
from toolkit.site.groups.switches.links import full_name, peers


def text(switch: Switch, site: Site, lines: Iterable[str]) -> str:
    """Return a script to be pasted into the switch's command line, with its cables as comments."""
    cables = [f"## {port}: {peer}" for port, peer in peers(switch, site).items()]
    head = ("##", f"## Hostname: {full_name(switch, site)}", *cables, "##")
    return "".join(f"{line}\n" for line in (*head, "enable", "configure terminal", *lines))
