"""What switches and hosts show of RoCE, against what a fabric of RoCE has them do."""

from collections.abc import Mapping

from stacks.site.site import Site
from toolkit.cli.shared.errors import Problem
from toolkit.cli.site.comparison import Compared, Comparison, compared, labelled, of_kind
from toolkit.evidence.model import Reading
from toolkit.evidence.tools.nvue import NvueRoce
from toolkit.evidence.tools.onyx_roce import OnyxRoce
from toolkit.evidence.tools.rdma_devices import ShowGids
from toolkit.evidence.tools.roce_ports import CmaRoce, MlnxQos
from toolkit.site.groups.hosts import roce
from toolkit.site.statements import Statements

_PFC = "PFC on priorities"


def _compare(reading: Reading, site: Site) -> Compared:
    of_kind(reading, OnyxRoce, NvueRoce, MlnxQos, CmaRoce, ShowGids)
    if site.traffic_class is None:
        raise Problem(
            f"{reading.file}: {reading.tool} shows RoCE, and fabric of stack {site.stack} is {site.fabric}",
            "Name a stack of RoCE with --stack.",
        )
    expected, running = _lines(reading, site, site.traffic_class)
    shown = {key: value or "none" for key, value in running.items()}
    return compared(f"output of {reading.tool}", labelled(expected), Statements(labelled(shown)))


def _lines(reading: Reading, site: Site, traffic_class: int) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return what is wanted, and what was shown."""
    dscp, own = roce.dscp(traffic_class), str(roce.priority(traffic_class))
    match reading:
        case OnyxRoce():
            shown = {
                "mode": str(reading.mode),
                "trust": str(reading.trust),
                _PFC: ",".join(map(str, reading.priorities)),
            }
            return {"mode": "lossless", "trust": "L3", _PFC: own}, shown
        case NvueRoce():
            trust = "dscp" if "dscp" in reading.trust else ",".join(reading.trust)
            shown = {"mode": str(reading.mode), "trust": trust, _PFC: ",".join(reading.priorities)}
            return {"mode": "lossless", "trust": "dscp", _PFC: own}, shown
        case MlnxQos():
            of_dscp = {f"priority of DSCP {dscp}": str(reading.priorities.get(dscp))} if reading.priorities else {}
            shown = {"trust": str(reading.trust), _PFC: ",".join(map(str, reading.pfc or ())), **of_dscp}
            return {"trust": "dscp", _PFC: own, **dict.fromkeys(of_dscp, own)}, shown
        case CmaRoce(tos=None):
            return {"version": "RoCE v2"}, {"version": str(reading.mode)}
        case CmaRoce():
            return {"type of service": str(traffic_class)}, {"type of service": str(reading.tos)}
        case ShowGids():
            devices = {row.device for row in reading.rows if row.version == "v2" and row.ipv4}
            ports = site.gpu_hosts[0].machine.hcas if site.gpu_hosts and site.gpu_hosts[0].machine else ()
            expected = {f"{hca.name}: GID of RoCE v2": "with an IPv4 address" for hca in ports}
            return expected, {key: line for key, line in expected.items() if key.partition(":")[0] in devices}
    raise AssertionError


COMPARISON = Comparison(("onyx-roce", "nvue-roce", "mlnx-qos", "cma-roce", "show-gids"), _compare)
