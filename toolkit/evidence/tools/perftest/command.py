"""The command line of a perftest program, as a shell's trace or prompt shows it."""

import re
import shlex

from pydantic import Field

from core.model import Model

COMMAND = (
    r"(?:[+$]\s+|\S*[$#]\s+)?(?:(?:sudo|env|\w+=\S*|(?:numactl|taskset)(?:\s+-\S+(?:\s+[\d,-]+)?)+)\s+)*(?:\S*/)?"
    r"(?:ib_(?:write|send|read|atomic)_(?:bw|lat))(?=\s|$)"
)
_command = re.compile(COMMAND)
_WITHOUT_VALUE = frozenset("abeFRgHUCNhVzvPZO")
"""Short options of perftest that take no value."""
_WITH_VALUE = frozenset(
    {
        "--CPU-freq", "--connection", "--cq-mod", "--duration", "--gid-index", "--ib-dev", "--ib-port", "--inline_size",
        "--iters", "--mtu", "--outs", "--port", "--qp", "--qp-timeout", "--report-both", "--rx-depth", "--size", "--sl",
        "--tos", "--tx-depth", "--use_cuda", "--use_cuda_bus_id", "--out_json_file",
    }
)  # fmt: skip


class Command(Model):
    """The options of a command that decide how its output is read."""

    program: str = Field(description="e.g. ib_write_bw")
    device: str | None = Field(description="HCA")
    peer: str | None = Field(description="host to connect to; None: the program listens")
    all_sizes: bool
    bidirectional: bool
    gpu: bool

    @classmethod
    def of(cls, text: str) -> "Command | None":
        """Return the command that a line shows, None when it shows none."""
        match = _command.match(text)
        if match is None:
            return None
        try:
            words = shlex.split(text[match.end() :], comments=False)
        except ValueError:
            words = text[match.end() :].split()
        device, hosts, before = None, [], ""
        for word in words:
            takes = before in _WITH_VALUE or (len(before) == 2 and before[1] not in _WITHOUT_VALUE)  # noqa: PLR2004
            if takes and before.startswith("-"):
                device = word if before in ("-d", "--ib-dev") else device
                before = ""
                continue
            if word.startswith("--ib-dev="):
                device = word.removeprefix("--ib-dev=")
            elif not word.startswith("-"):
                hosts.append(word)
            elif word.startswith("-d") and len(word) > 2 and word[1] != "-":  # noqa: PLR2004
                device = word[2:]
            before = word
        options = {word.partition("=")[0] for word in words}
        return cls(
            program=match[0].split()[-1].rpartition("/")[2],
            device=device,
            peer=hosts[0] if hosts else None,
            all_sizes=bool(options & {"-a", "--all"}),
            bidirectional=bool(options & {"-b", "--bidirectional"}),
            gpu=bool(options & {"--use_cuda", "--use_cuda_bus_id"}),
        )
