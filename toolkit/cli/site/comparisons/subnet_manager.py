"""`show ib smnode` of a switch, against whether it is to run a subnet manager."""

from stacks.settings.site.switches import OnyxInfiniBand
from stacks.site.site import Site
from toolkit.cli.shared.errors import Problem
from toolkit.cli.site.comparison import Compared, Comparison, compared, of_kind, short
from toolkit.evidence.model import Reading
from toolkit.evidence.tools.subnet import IbSmNode
from toolkit.site.statements import Statements


def _compare(reading: Reading, site: Site) -> Compared:
    answer = of_kind(reading, IbSmNode)
    switches = {short(switch_settings.name): switch_settings for switch_settings in site.settings.switches}
    switch = switches.get(short(str(answer.node)))
    if not isinstance(switch, OnyxInfiniBand):
        raise Problem(
            f"{reading.file}: {answer.node or 'a switch without a name'} is not InfiniBand switch of site.switches",
            "Add it there, name its stack with --stack, or store the command with its output.",
        )
    state = "enabled" if switch.sm_priority is not None else "disabled"
    return compared(
        f"subnet manager of {switch.name}",
        {"sm-state": f"sm-state {state}"},
        Statements({"sm-state": f"sm-state {answer.state}"}),
    )


COMPARISON = Comparison(("ib-smnode",), _compare)
