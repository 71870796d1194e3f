"""Log of NVIDIA's device plugin, of 2018 to today's form of klog."""

import re
from enum import StrEnum

from pydantic import Field

from toolkit.evidence.criterion import Criterion, Outcome, proofs_at, quoted_proofs, readings_of
from toolkit.evidence.model import Reading, Record, Unread
from toolkit.evidence.parser import Common, Parser, Taken, ending
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

FAILURES_KEPT = 100
CONFIGURATION_LINES = 1000
"""Lines of the configuration that is printed; a longer one is none."""

_STAMP = (
    r"(?:[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9:]{8} |(?P<level>[IWEF])[0-9]{4} [0-9:.]{8,16} +[0-9]+ [\w.-]+\.go:[0-9]+\] ?)"
)
_START = r'(?:Loading NVML$|"?Starting NVIDIA Device Plugin|Starting FS watcher(?:\.| for ))'
_LINE = re.compile(rf"{_STAMP}(?P<message>.*)", re.ASCII)


class Milestone(StrEnum):
    """What the plugin does, in its order; which of them a version prints differs, the last three are in all."""

    STARTING = "Starting NVIDIA Device Plugin"
    LOADING_NVML = "Loading NVML"
    FETCHING = "Fetching devices"
    FS_WATCHER = "Starting FS watcher"
    OS_WATCHER = "Starting OS watcher"
    PLUGINS = "Starting Plugins"
    CONFIGURATION = "Loading configuration"
    RETRIEVING = "Retrieving plugins"
    GRPC = "Starting GRPC server"
    SERVING = "Starting to serve"
    REGISTERED = "Registered device plugin"


_ORDER = {milestone: place for place, milestone in enumerate(Milestone)}
_FIRST = frozenset({Milestone.STARTING, Milestone.LOADING_NVML, Milestone.FS_WATCHER})
_AFTER = tuple(milestone for milestone in Milestone if _ORDER[milestone] > _ORDER[Milestone.FS_WATCHER])
_MILESTONES: tuple[tuple[re.Pattern[str], Milestone], ...] = (
    (re.compile(r'"?Starting NVIDIA Device Plugin'), Milestone.STARTING),
    (re.compile(r"Loading NVML$"), Milestone.LOADING_NVML),
    (re.compile(r"Fetching devices\.$"), Milestone.FETCHING),
    (re.compile(r"Starting FS watcher(?:\.| for \S+)$"), Milestone.FS_WATCHER),
    (re.compile(r"Starting OS watcher\.$"), Milestone.OS_WATCHER),
    (re.compile(r"Starting Plugins\.$"), Milestone.PLUGINS),
    (re.compile(r"Loading configuration\.$"), Milestone.CONFIGURATION),
    (re.compile(r"Retr(?:ie|ei)ving plugins\.$"), Milestone.RETRIEVING),
    (re.compile(r"Starting GRPC server for '(?P<resource>[^']+)'$"), Milestone.GRPC),
    (re.compile(r"Starting to serve (?:'(?P<resource>[^']+)' )?on (?P<socket>\S+\.sock)$"), Milestone.SERVING),
    (re.compile(r"Registered device plugin (?:for '(?P<resource>[^']+)' )?with Kubelet$"), Milestone.REGISTERED),
)
_STOPPED = re.compile(
    r"(?:Stopping (?:plugins|to serve)|Shutting down|Received signal|inotify: .* created, restarting)"
)
_FAILED = re.compile(
    r"(?:Could not |Failed to |failed to |Error|Incompatible strategy|No devices found|No valid |could not load|"
    r"NVML not detected|If this is a GPU node|Unsupported )"
)
_TEXT = re.compile(
    r"(?:Updating config with default|Running with config:|You can |Starting nvidia-device-plugin|Detected )"
)


class Reached(Record):
    """A milestone that the plugin printed."""

    milestone: Milestone = Field(description="its message in the log, the same for all versions")


class DevicePlugin(Reading):
    """One start of the plugin in one pod."""

    milestones: tuple[Reached, ...] = Field(default=(), description="the first of each, in the order of the log")
    in_order: bool = Field(default=False, description="whether they came in the plugin's own order")
    registered: bool = Field(default=False, description="whether the kubelet took it, and it was not stopped then")
    resource: str | None = Field(default=None, description="e.g. nvidia.com/gpu; None: not printed before v0.7")
    socket: str | None = Field(default=None, description="under /var/lib/kubelet/device-plugins")
    failures: tuple[Unread, ...] = Field(default=(), description=f"lines that report an error, first {FAILURES_KEPT}")

    def _figures(self) -> str:
        return "registered" if self.registered else "not registered"


class DevicePluginParser(Parser):
    """Reads one start, of one pod."""

    tool = "device-plugin"
    kind = DevicePlugin
    starts = _STAMP.replace("?P<level>", "?:") + _START
    by_source = True

    def __init__(self) -> None:
        self._milestones: dict[Milestone, int] = {}
        self._registered = False
        self._resource: str | None = None
        self._socket: str | None = None
        self._failures: list[Unread] = []
        self._in_block = False
        self._block_lines = 0

    def feed(self, line: Line) -> Taken:
        """Read a line of the log."""
        match = _LINE.fullmatch(line.text)
        if match is None:
            return self._continued(line.text)
        self._in_block = False
        message = match["message"]
        for pattern, milestone in _MILESTONES:
            if (stated := pattern.match(message)) is not None:
                return self._reached(milestone, stated, line)
        if match["level"] in {"E", "F"} or _FAILED.match(message):
            if len(self._failures) < FAILURES_KEPT:
                self._failures.append(Unread(line=line.number, text=line.text))
            return Taken.YES
        if _STOPPED.match(message):
            self._registered = False
            return Taken.YES
        if not message or _TEXT.match(message):
            self._in_block = True
            return Taken.YES
        return Taken.NO

    def _reached(self, milestone: Milestone, stated: re.Match[str], line: Line) -> Taken:
        begun = milestone is not Milestone.FS_WATCHER and any(after in self._milestones for after in _AFTER)
        if milestone in _FIRST and (begun or milestone in self._milestones):
            return Taken.AGAIN
        self._milestones.setdefault(milestone, line.number)
        groups = stated.groupdict()
        self._resource = groups.get("resource") or self._resource
        self._socket = groups.get("socket") or self._socket
        if milestone is Milestone.REGISTERED:
            self._registered = True
        if milestone is Milestone.STARTING and stated.string.endswith("version=<"):
            self._in_block = True
        return Taken.YES

    def _continued(self, text: str) -> Taken:
        """Read a line of the version or of the configuration, which have no stamp."""
        if not self._in_block or self._block_lines >= CONFIGURATION_LINES:
            return Taken.NO
        self._block_lines += 1
        if text.strip() == ">" or text == "}":
            self._in_block = False
        return Taken.YES

    def reading(self, common: Common) -> DevicePlugin:
        """Return how far the plugin came."""
        reached = sorted(self._milestones.items(), key=lambda item: item[1])
        places = [_ORDER[milestone] for milestone, _ in reached]
        last = Milestone.REGISTERED in self._milestones
        return DevicePlugin(
            **ending(None if last else f"no `{Milestone.REGISTERED}`"),
            milestones=tuple(Reached(line=number, milestone=milestone) for milestone, number in reached),
            in_order=places == sorted(places),
            registered=self._registered,
            resource=self._resource,
            socket=self._socket,
            failures=tuple(self._failures),
            **common,
        )


def _registered(job: Job) -> Outcome | None:
    plugins = readings_of(job, DevicePlugin)
    failed = [plugin for plugin in plugins if not plugin.registered or plugin.failures]
    reasons = [plugin.failures[0].text if plugin.failures else "not registered" for plugin in failed]
    proofs = tuple(
        proof
        for plugin in failed or plugins
        for proof in (*quoted_proofs(plugin.file, *plugin.failures[:2]), *proofs_at(plugin.file, plugin.last_line))
    )
    if failed:
        return Outcome(Status.FAIL, listed(reasons, 2), proofs=proofs)
    if cut := [plugin for plugin in plugins if not plugin.complete]:
        return Outcome(Status.MISSING, listed(plugin.incomplete or "not whole" for plugin in cut), proofs=proofs)
    in_order = all(plugin.in_order for plugin in plugins)
    measured = "registered" if in_order else "registered, its milestones not in the plugin's order"
    return Outcome(Status.PASS if in_order else Status.WARN, measured, proofs=proofs)


CRITERIA = (
    Criterion(
        name="device-plugin-registered",
        title="The device plugin offers the GPUs to the kubelet",
        limit="Registered device plugin with Kubelet",
        tolerance="milestones out of order are a warning",
        applies="logs of NVIDIA's device plugin",
        source="S-7.4",
        judge=_registered,
    ),
)
