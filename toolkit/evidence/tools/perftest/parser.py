"""Reads what perftest's programs print, either side, from version 2 of 2013 to 26 of 2026, and its JSON files.

Sources: src/perftest_parameters.{c,h} (`ctx_print_test_info`, `print_full_bw_report`, `print_report_lat`, the
RESULT_FMT and REPORT_FMT forms), perftest_communication.c and the *_bw.c and *_lat.c programs of linux-rdma/perftest;
the log in the Redpaper; for failures its issues 26, 31, 126 and 280.
"""

import re
from collections.abc import Callable
from typing import Literal

from toolkit.evidence.model import Unread
from toolkit.evidence.parser import Common, Parser, Taken
from toolkit.evidence.text import Line
from toolkit.evidence.tools.perftest import json_file, table
from toolkit.evidence.tools.perftest.model import CpuFrequency, End, Perftest
from toolkit.evidence.tools.perftest.run import COMMAND, Command, Run
from toolkit.evidence.verdict import RDMA_LISTENER, RDMA_TEST

_TITLE = (
    r"\s*(?:Send|RDMA_Write|RDMA_Write_imm|RDMA_Read|Atomic)(?: (?:CMP_AND_SWAP|FETCH_AND_ADD|Compare and Swap|"
    r"Fetch and Add))?(?: Bidirectional)?(?: Post List)?(?: (?:BW|Latency))?(?: forwarding)?(?: Multicast)? Test$"
)
_FREQUENCY = r"Conflicting CPU frequency values detected: "
_WAITING = r"\* Waiting for client to connect"
_OWN_FAILURE = (
    r"\s*(?:Couldn't allocate MR|Couldn't connect to \S+:\d+|Unable to find the Infiniband/RoCE|"
    r"IB device \S+ not found|No IB devices found|Port number \d+ state is |Couldn't get context for the device)"
)
_NO_PEAK = r"\s*WARNING: BW peak won't be measured in this run"

_title = re.compile(_TITLE)
_frequency = re.compile(_FREQUENCY + r"(\d{1,9}\.\d{1,9}) != (\d{1,9}\.\d{1,9})\. CPU Frequency is not max\.?$")
_waiting = re.compile(_WAITING)
_rule = re.compile(r"-{5,}$")
_banner = re.compile(r"\*{5,}$")
_end = re.compile(
    r"\s*(local|remote) address:\s+LID (0x[0-9a-fA-F]{1,8}|0{1,8}) QPN (0x[0-9a-fA-F]{1,8}) PSN (0x[0-9a-fA-F]{1,8})"
    r"(?: SRQN 0x[0-9a-fA-F]+)?(?: OUT 0x[0-9a-fA-F]+)?(?: RKey 0x[0-9a-fA-F]+ VAddr 0x[0-9a-fA-F]+)?$"
)
_gid = re.compile(r"\s*M?GID: ([0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){7,15})$")
_failure = re.compile(
    r"\s*(?:Couldn't |Failed |failed to |Unable to |Can't produce a report|Cannot Allocate|ERRNO: |"
    r"Completion with error|IB device \S+ not found|No IB devices found|Port number \d+ state is |"
    r"Problems with |Invalid |Parser function exited|Segmentation fault|bad wc|poll CQ failed|ethernet_read_keys: )"
)
_own_failure = re.compile(_OWN_FAILURE)
_warning = re.compile(
    r"\s*(?:WARNING: |Perftest doesn't supports? |Requested SQ size might be too big|Current TX depth is |"
    r"Device not recognized to implement inline feature)"
)
_gpu = re.compile(
    r"initializing CUDA|Listing all CUDA devices|CUDA device \d+: PCIe address|Picking device No|There are \d+ devices "
    r"supporting CUDA|creating CUDA Ctx|making it the current CUDA Ctx|Using DMA-BUF|allocat\w+ .*GPU buffer|"
    r"cuMemAlloc\(\)|Got PCIe address|deallocating GPU buffer|destroying current CUDA Ctx"
)
_gpu_name = re.compile(r"\[pid = \d+, dev = \d+\] device name = \[(.+)\]$")
_silent = re.compile(
    r"\s*(?:Waiting for client rdma_cm QP to connect|Please run the same command with the IB/RoCE interface IP|"
    r"MultiCast runs on UD!|Test with events\. Using )"
)
_ours = re.compile(r"\s*(?:local|remote) address:|Conflicting CPU freq|\s*#bytes")

_SETTINGS: dict[str, tuple[str, Callable[[str], object]]] = {
    "Dual-port": ("dual_port", lambda text: text == "ON"),
    "Device": ("device", str),
    "Number of qps": ("qps", int),
    "Transport type": ("transport_type", str),
    "Connection type": ("connection_type", str),
    "TX depth": ("tx_depth", int),
    "RX depth": ("rx_depth", int),
    "CQ Moderation": ("cq_moderation", int),
    "Mtu": ("mtu_bytes", lambda text: int(text.removesuffix("[B]"))),
    "Link type": ("link_type", str),
    "GID index": ("gid_index", int),
    "Gid index": ("gid_index", int),
    "Max inline data": ("inline_bytes", lambda text: int(text.removesuffix("[B]"))),
    "Outstand reads": ("outstanding_reads", int),
    "PCIe relax order": ("relaxed_ordering", lambda text: text == "ON"),
    "rdma_cm QPs": ("rdma_cm", lambda text: text == "ON"),
    "Data ex. method": ("exchange", str),
}
"""Names of the printed settings that are kept, the field of each, and how it is read."""
_PASSED = (
    "Using SRQ", "Lock-free", "ibv_wr* API", "Using DDP", "Using Enhanced Reorder", "Post List", "Recv Post List",
    "CQE Poll Batch", "GID index2", "Use ROCm memory", "Buffer size", "TOS", "DCS num streams",
    "DCS active num streams", "Number of data encryption keys", "Block Size",
)  # fmt: skip
_KEYS = "|".join(re.escape(key) for key in sorted((*_SETTINGS, *_PASSED), key=len, reverse=True))
_setting = re.compile(rf"\s*({_KEYS})\s*: (\S{{1,60}})(?=\s|$)")


class PerftestParser(Parser):
    """Reads one run of one side, from its command or first message to the line behind its results."""

    tool = "perftest"
    kind = Perftest
    rdma_test = frozenset({RDMA_TEST, RDMA_LISTENER})
    starts = (
        rf"{COMMAND}|{_TITLE}|{_FREQUENCY}|{_WAITING}|{_OWN_FAILURE}|{_NO_PEAK}|Perftest doesn't supports? |"
        rf"initializing CUDA$|\s*#bytes\s+(?:#sl\s+)?#iterations\s|{json_file.STARTS}"
    )
    leads = r"\*{5,}"
    """The rule above the line in which the listener reports that it waits."""

    def __init__(self) -> None:
        self._run = Run()
        self._begun = False
        self._over = False
        self._table: table.Shape | None = None
        self._json: json_file.File | None = None
        self._source: str | None = None

    def feed(self, line: Line) -> Taken:
        """Read a line."""
        if self._source is not None and line.source != self._source:
            return Taken.NO
        taken = self._feed(line)
        if taken is Taken.YES:
            self._begun = True
            self._source = line.source
        elif taken is Taken.DAMAGED:
            self._run.damaged += 1
        return taken

    def _feed(self, line: Line) -> Taken:
        if self._json is not None or re.match(json_file.STARTS, line.text):
            return self._file(line)
        if (command := Command.of(line.text)) is not None:
            if not self._begun:
                self._run.command = command
            return Taken.AGAIN if self._begun else Taken.YES
        if self._over:
            return self._after(line.text)
        for read in (self._banner_line, self._settings, self._table_line, self._message):
            taken = read(line)
            if taken is not Taken.NO:
                return taken
        return Taken.DAMAGED if _ours.match(line.text) else Taken.NO

    def _file(self, line: Line) -> Taken:
        if self._json is None:
            if self._begun:
                return Taken.AGAIN
            self._json = json_file.File(self._run)
        return self._json.feed(line)

    def _after(self, text: str) -> Taken:
        begins = (_title, _waiting, _own_failure)
        if any(pattern.match(text) for pattern in begins) or text.startswith((_FREQUENCY, "initializing CUDA")):
            return Taken.AGAIN
        return Taken.YES if _gpu.match(text) else Taken.NO

    def _banner_line(self, line: Line) -> Taken:
        run, text = self._run, line.text
        if _title.match(text):
            if run.title is not None and not self._is_other_side(text):
                return Taken.AGAIN
            run.title = text.strip()
        elif _waiting.match(text):
            if run.title is not None or run.waited:
                return Taken.AGAIN
            run.waited = True
        elif _rule.match(text):
            if not self._begun:
                return Taken.NO
            if run.has_rows():
                run.closed += 1
                run.ended = self._over = run.closed >= run.headings
        elif not _banner.match(text):
            return Taken.NO
        return Taken.YES

    def _is_other_side(self, text: str) -> bool:
        """Return whether a title is that of the other side, which writes to the same terminal at the same time.

        Each side prints its settings at once: when the last of them is missing, the run before has not ended.
        """
        run = self._run
        return run.title == text.strip() and self._table is None and not run.failures and "exchange" not in run.settings

    def _settings(self, line: Line) -> Taken:
        text, position = line.text, 0
        if self._run.title is None or self._table is not None or not _setting.match(text):
            return Taken.NO
        pairs: list[tuple[str, str]] = []
        while (match := _setting.match(text, position)) is not None:
            pairs.append((match[1], match[2]))
            position = match.end()
        if text[position:].strip():
            return Taken.DAMAGED
        try:
            settings = {_SETTINGS[key][0]: _SETTINGS[key][1](value) for key, value in pairs if key in _SETTINGS}
        except ValueError:
            return Taken.DAMAGED
        self._run.settings.update(settings)
        return Taken.YES

    def _table_line(self, line: Line) -> Taken:
        if (shape := table.Shape.of(line.text)) is not None:
            if self._table is not None and (self._table != shape or self._run.has_rows()):
                return Taken.AGAIN
            self._run.headings += 1
            self._table = shape
            self._run.unit = shape.unit
            self._run.has_table = True
            return Taken.YES
        if self._table is None or not table.is_like_a_row(line.text):
            return Taken.NO
        return Taken.YES if self._table.read(line, self._run) else Taken.DAMAGED

    def _message(self, line: Line) -> Taken:
        run, text = self._run, line.text
        if (match := _end.match(text)) is not None:
            side: Literal["local", "remote"] = "local" if match[1] == "local" else "remote"
            lid, qpn, psn = (int(figure, 16) for figure in match.group(2, 3, 4))
            run.ends[side].append(End(line=line.number, lid=lid, qpn=qpn, psn=psn))
            run.last_end = side
        elif (match := _gid.match(text)) is not None and run.last_end is not None:
            run.ends[run.last_end][-1] = run.ends[run.last_end][-1].model_copy(update={"gid": match[1]})
        elif (match := _frequency.match(text)) is not None:
            run.frequency = run.frequency or CpuFrequency(
                line=line.number, first_mhz=float(match[1]), second_mhz=float(match[2])
            )
        elif (match := _gpu_name.match(text)) is not None:
            run.gpu, run.gpu_name = True, match[1]
        elif _gpu.match(text):
            run.gpu = True
        elif _warning.match(text):
            run.add(run.warnings, Unread(line=line.number, text=text))
        elif self._is_failure(text):
            run.add(run.failures, Unread(line=line.number, text=text))
        elif not _silent.match(text):
            return Taken.NO
        return Taken.YES

    def _is_failure(self, text: str) -> bool:
        """Return whether a line reports a failure; what any program may print counts only once a run has started."""
        return (_failure if self._begun else _own_failure).match(text) is not None

    def reading(self, common: Common) -> Perftest:
        """Return what was read."""
        return self._run.reading(common)
