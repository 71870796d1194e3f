"""Settings of adapters' firmware, against the kind of link that the fabric needs."""

import re

from stacks.site.site import Site
from toolkit.cli.site.comparison import Compared, Comparison, compared, of_kind
from toolkit.evidence.model import Reading
from toolkit.evidence.tools.mlxconfig import MlxConfig
from toolkit.site.statements import Statements

_LINK_TYPE = re.compile(r"LINK_TYPE_P\d")


def _compare(reading: Reading, site: Site) -> Compared:
    config = of_kind(reading, MlxConfig)
    link_types = {row.name: f"{row.name} {row.values[-1]}" for row in config.rows if _LINK_TYPE.fullmatch(row.name)}
    link = "IB(1)" if site.fabric == "infiniband" else "ETH(2)"
    expected = {name: f"{name} {link}" for name in link_types}
    others = tuple(f"{row.name} {row.values[-1]}" for row in config.rows if row.name not in link_types)
    # Adapters for Ethernet alone have no such setting.
    return compared(f"adapter {config.device or ''}".strip(), expected, Statements(link_types, others))


COMPARISON = Comparison(("mlxconfig",), _compare)
