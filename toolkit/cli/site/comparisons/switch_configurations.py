"""Running configurations of switches, against those that `./hpc site render` writes."""

from collections.abc import Mapping, Sequence

from stacks.settings.site.switches import Comware, Nvue, OnyxEthernet, OnyxInfiniBand, Switch
from stacks.site.site import Site
from toolkit.cli.shared.errors import Problem
from toolkit.cli.site.comparison import Compared, Comparison, compared, of_kind, short
from toolkit.evidence.configuration import ConfigurationReading
from toolkit.evidence.model import Reading
from toolkit.evidence.tools.comware_config import ComwareConfig
from toolkit.evidence.tools.nvue import NvueConfig
from toolkit.evidence.tools.onyx_config import OnyxConfig
from toolkit.site.groups import switches
from toolkit.site.groups.switches.comware import in_views
from toolkit.site.statements import Statements

_DIALECTS: Mapping[type[ConfigurationReading], tuple[type[Switch], ...]] = {
    OnyxConfig: (OnyxInfiniBand, OnyxEthernet),
    NvueConfig: (Nvue,),
    ComwareConfig: (Comware,),
}


def _compare(reading: Reading, site: Site) -> Compared:
    config = of_kind(reading, *_DIALECTS)
    candidates = [switch for switch in site.settings.switches if isinstance(switch, _DIALECTS[type(config)])]
    switch = _named(config, candidates)
    dialect = switches.of(switch)
    running = dialect.running(_statements(config))
    return compared(
        f"switch {switch.name}", _without_defaults(config, dialect.statements(switch, site), running), running
    )


def _named(config: ConfigurationReading, candidates: Sequence[Switch]) -> Switch:
    """Return the switch that a configuration is of; one without a name is of the only switch of its dialect."""
    matches = [switch for switch in candidates if config.host is None or short(switch.name) == short(config.host)]
    if len(matches) == 1:
        return matches[0]
    names = ", ".join(switch.name for switch in candidates) or "none"
    whose = f"switch {config.host}" if config.host else "a switch that it does not name"
    unnamed = "Store it whole, with the line that names the switch" if config.host is None and candidates else None
    raise Problem(
        f"{config.file}: the configuration of {whose}; switches of this dialect in site.switches: {names}",
        f"{unnamed or 'Add the switch to site.switches'}, or name the stack that it belongs to with --stack.",
    )


def _statements(config: ConfigurationReading) -> Sequence[str]:
    match config:
        case OnyxConfig():
            return [row.text for row in config.rows]
        case NvueConfig():
            return [row.path if row.value is None else f"{row.path}: {row.value}" for row in config.rows]
        case ComwareConfig():
            return [*in_views(row.text for row in config.rows)]
    raise AssertionError


def _without_defaults(
    config: ConfigurationReading, expected: Mapping[str, str], running: Statements
) -> Mapping[str, str]:
    """Return what is wanted without the MTU that ports of newer releases have by default, and do not print."""
    if not isinstance(config, OnyxConfig) or not config.jumbo_by_default:
        return expected
    return {
        key: line
        for key, line in expected.items()
        if key in running.by_key or not (key.endswith(" mtu") and line.endswith(" 9216"))
    }


COMPARISON = Comparison(("onyx-config", "nvue-config", "comware-config"), _compare)
