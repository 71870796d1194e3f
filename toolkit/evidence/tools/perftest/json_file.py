"""Reads the file that --out_json writes: one member a line.

Source: `write_test_info_to_file`, `write_bw_report_to_file` and `write_report_lat_to_file` of
src/perftest_parameters.c, linux-rdma/perftest. The file does not name the unit of its bandwidth: it follows from the
message rate.
"""

import json
import re
from typing import Any

from pydantic import ValidationError

from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.tools.perftest.model import Bandwidth, Latency, Unit, as_mb
from toolkit.evidence.tools.perftest.run import Measured, Run, contradiction

STARTS = r'(?:\{\s*)?"test_info":\s*\{$'
_member = re.compile(r'\s*"([^"\\]{1,60})":\s*("[^"\\]*"|-?\d{1,18}(?:\.\d{1,9})?),?$')
_results = re.compile(r'\s*"results":\s*\{$')
_closed = re.compile(r"\s*\},?$")

_INFO: dict[str, tuple[str, type]] = {
    "Device": ("device", str),
    "Number_of_qps": ("qps", int),
    "Transport_type": ("transport_type", str),
    "Connection_type": ("connection_type", str),
    "TX_depth": ("tx_depth", int),
    "RX_depth": ("rx_depth", int),
    "CQ_Moderation": ("cq_moderation", int),
    "Mtu": ("mtu_bytes", int),
    "Link_type": ("link_type", str),
    "GID_index": ("gid_index", int),
    "Max_inline_data": ("inline_bytes", int),
    "Outstand_reads": ("outstanding_reads", int),
    "Data_ex_method": ("exchange", str),
}
_SWITCHES = {"Dual_port": "dual_port", "PCIe_relax_order": "relaxed_ordering", "rdma_cm_QPs": "rdma_cm"}
_LATENCY = {
    "t_min": "min_us",
    "t_max": "max_us",
    "t_typical": "typical_us",
    "t_avg": "average_us",
    "t_stdev": "stdev_us",
    "percentile_99": "p99_us",
    "percentile_99.9": "p99_9_us",
    "tps_average": "per_second",
    "CPU_Util": "cpu_percent",
}
_AVERAGE_OFF = 0.0051
"""Half a digit of a bandwidth: two digits are printed, six below 0.1 Gb/s."""
_RATE_OFF = 0.51e-6


class File:
    """A file while it is being read."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._info: dict[str, Any] = {}
        self._results: dict[str, Any] = {}
        self._open: list[str] = []
        self._seen = self._done = self._over = False
        run.faults.append("the file is cut")

    def feed(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if re.match(STARTS, text):
            if self._seen:
                return Taken.AGAIN
            self._seen, self._open = True, ["test_info"]
        elif self._open and (match := _member.match(text)) is not None:
            return self._read_member(match[1], match[2])
        elif self._seen and not self._done and _results.match(text):
            self._open = ["results"]
        elif self._open and _closed.match(text):
            closed = self._open.pop()
            if closed == "results":
                self._close(line)
        elif self._done and text.strip() == "}":
            self._over = True
        else:
            return Taken.DAMAGED if self._seen and not self._over else Taken.NO
        return Taken.YES

    def _read_member(self, name: str, text: str) -> Taken:
        part = self._info if self._open[-1] == "test_info" else self._results
        try:
            part[name] = json.loads(text)
        except ValueError:
            return Taken.DAMAGED
        return Taken.YES

    def _close(self, line: Line) -> None:
        run = self._run
        self._done = True
        run.faults.remove("the file is cut")
        try:
            self._fill(line)
        except (KeyError, ValueError, TypeError, ValidationError):
            run.faults.append("figures are missing or cannot be read")
            return
        run.ended = True

    def _fill(self, line: Line) -> None:
        run, info, results = self._run, self._info, self._results
        run.title = (
            str(info["test"]).replace("_Test", " Test").replace("_BW ", " BW ").replace("_Latency ", " Latency ")
        )
        for mark in ("Bidirectional", "Post_List", "forwarding", "Multicast"):
            run.title = run.title.replace(f"_{mark}", f" {mark.replace('_', ' ')}")
        for key, (name, kind) in _INFO.items():
            if key in info:
                if not isinstance(info[key], kind):
                    raise TypeError(key)
                run.settings[name] = info[key]
        run.settings.update({name: info[key] == "ON" for key, name in _SWITCHES.items() if key in info})
        run.gpu = "cuda_device" in info
        size, iterations = int(results["MsgSize"]), int(results["n_iterations"])
        run.has_table = True
        if "BW_average" in results:
            self._bandwidth(line, size, iterations)
            return
        latencies = {name: results[key] for key, name in _LATENCY.items() if key in results}
        run.latencies.append(
            Latency.model_validate({"line": line.number, "bytes": size, "iterations": iterations, **latencies})
        )

    def _bandwidth(self, line: Line, size: int, iterations: int) -> None:
        results = self._results
        peak, average, rate = (float(results[key]) for key in ("BW_peak", "BW_average", "MsgRate"))
        units: tuple[Unit, ...] = ("MB/s", "Gb/s")
        fitting = []
        for unit in units:
            row = Bandwidth(
                line=line.number,
                bytes=size,
                iterations=iterations,
                peak_mb_s=as_mb(peak, unit) or None,
                average_mb_s=as_mb(average, unit),
                message_rate_mpps=rate,
                unit=unit,
                peak_printed=peak,
                average_printed=average,
            )
            measured = Measured(row, _AVERAGE_OFF, _RATE_OFF)
            if contradiction(measured) is None:
                fitting.append(measured)
        if len(fitting) != 1:
            self._run.faults.append("the unit of the bandwidth could not be determined from the message rate")
            return
        self._run.unit = fitting[0].row.unit
        self._run.measured.append(fitting[0])
