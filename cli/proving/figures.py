"""The few figures of a reading that a table has room for."""

from functools import singledispatch

from evidence.criteria.criterion import listed
from evidence.model import Reading, Unread
from evidence.tools.bonding import Bonding
from evidence.tools.cuda_vector_add import CudaVectorAdd
from evidence.tools.deeplearningexamples import DeepLearningExamples
from evidence.tools.device_plugin import DevicePlugin
from evidence.tools.getent_hosts import GetentHosts
from evidence.tools.horovod_synthetic import HorovodSynthetic
from evidence.tools.ib_smnode import IbSmNode
from evidence.tools.ibhosts import IbHosts
from evidence.tools.ibstatus import IbStatus
from evidence.tools.mllog import UNVERIFIED, MlLog
from evidence.tools.mlxconfig import MlxConfig
from evidence.tools.nccl_tests.model import NcclTests
from evidence.tools.net_devices import NetDevices
from evidence.tools.nvidia_smi import NvidiaSmi
from evidence.tools.perftest.model import Perftest
from evidence.tools.rdma_devices import RdmaDevices
from evidence.tools.tf_cnn_benchmarks import TfCnnBenchmarks
from evidence.tools.ulimit import Ulimit
from evidence.tools.whoami import WhoAmI


def ranks(reading: Reading) -> int | None:
    """Return the processes or GPUs that took part; None: the tool does not tell."""
    told = getattr(reading, "ranks", None)
    return told if isinstance(told, int) else reading.nccl.nranks if reading.nccl else None


def summary(reading: Reading) -> str:
    """Return the figures of a reading, and what NCCL said of it."""
    parts = [figures(reading)]
    if reading.nccl is not None:
        log = reading.nccl
        channels = listed(f"{count} by {name}" for name, count in log.transports.items())
        direct = f", {log.gpudirect} with GDRDMA" if log.gpudirect else ""
        algorithms = {"trees": log.trees, "CollNet": log.collnet}
        told = "".join(f", {'' if used else 'no '}{name}" for name, used in algorithms.items() if used is not None)
        version = f" {log.version}" if log.version else ""
        parts.append(f"NCCL{version}: {channels or 'no channels'}{direct}{told}")
    return "; ".join(part for part in parts if part)


@singledispatch
def figures(reading: Reading) -> str:
    """Return the figures of a reading; of most the number of rows."""
    rows = getattr(reading, "rows", None)
    return f"{len(rows)} rows" if isinstance(rows, tuple) else ""


@figures.register
def _(reading: NcclTests) -> str:
    if not reading.rows:
        return reading.test or ""
    largest = reading.rows[-1]
    average = reading.average_busbw_gb_s
    return (
        f"{reading.test or 'unknown test'}, {len(reading.rows)} sizes, {largest.out_of_place.busbw_gb_s:g} GB/s at "
        f"{largest.bytes} B{f', average {average:g}' if average is not None else ''}"
    )


@figures.register
def _(reading: Perftest) -> str:
    named = f"{reading.program or reading.title or ''} {reading.device or ''}".strip()
    if reading.bandwidth:
        last = reading.bandwidth[-1]
        return f"{named}, {last.average_mb_s:.2f} MB/s at {last.bytes} B"
    if reading.latency:
        first = reading.latency[0]
        return f"{named}, {first.typical_us} us at {first.bytes} B"
    return named


@figures.register
def _(reading: IbStatus) -> str:
    return f"{sum(port.up for port in reading.rows)} of {len(reading.rows)} ports up"


@figures.register
def _(reading: IbHosts) -> str:
    return f"{len(reading.rows)} CAs{f' from {reading.hca}' if reading.hca else ''}"


@figures.register
def _(reading: GetentHosts) -> str:
    return f"{reading.name} is {listed(row.address for row in reading.rows) or 'not known'}"


@figures.register
def _(reading: RdmaDevices) -> str:
    return listed(f"{count} {kind}" for kind, count in reading.counts.items())


@figures.register
def _(reading: NetDevices) -> str:
    return listed(f"{row.name}{f' MTU {row.mtu}' if row.mtu else ''}" for row in reading.rows)


@figures.register
def _(reading: NvidiaSmi) -> str:
    name = reading.rows[0].name if reading.rows else ""
    return f"{len(reading.rows)} GPUs {name or ''}{f', driver {reading.driver}' if reading.driver else ''}"


@figures.register
def _(reading: TfCnnBenchmarks) -> str:
    total = reading.total_images_per_s
    return f"{total:,.2f} images/s" if total is not None else f"{reading.steps_total} steps"


@figures.register
def _(reading: HorovodSynthetic) -> str:
    total = reading.total_images_per_s
    return f"{total:,.2f} images/s" if total is not None else f"{len(reading.iterations)} iterations"


@figures.register
def _(reading: DeepLearningExamples) -> str:
    total = reading.throughput_items_per_s
    return f"{total:,.2f} {reading.unit or '/s'}" if total is not None else f"{reading.rows_total} steps"


@figures.register
def _(reading: MlLog) -> str:
    minutes = f"{reading.minutes:.2f} minutes ({UNVERIFIED})" if reading.minutes is not None else ""
    return ", ".join(part for part in (reading.benchmark, minutes, reading.status) if part)


@figures.register
def _(reading: DevicePlugin) -> str:
    return "registered" if reading.registered else "not registered"


@figures.register
def _(reading: CudaVectorAdd) -> str:
    return "Test PASSED" if reading.passed else _text(reading.failure)


@figures.register
def _(reading: Bonding) -> str:
    return f"{sum(row.up for row in reading.rows)} of {len(reading.rows)} ports up"


@figures.register
def _(reading: MlxConfig) -> str:
    return f"ATS {reading.ats or 'unknown'}"


@figures.register
def _(reading: Ulimit) -> str:
    return "unlimited" if reading.unlimited else f"{reading.memlock_bytes} bytes"


@figures.register
def _(reading: WhoAmI) -> str:
    return reading.user or str(reading.uid or "")


@figures.register
def _(reading: IbSmNode) -> str:
    return f"{reading.node} {reading.state}"


def _text(line: Unread | None) -> str:
    return line.text if line is not None else "no result"
