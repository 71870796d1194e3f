"""How programs, launchers, shells and kernels word that something failed, and what such lines say of it.

Which process, task, host or peer launchers and NCCL name; PyTorch has a parser of its own.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from toolkit.evidence.prefixes import TIME

_PREFIXES = (
    r"\[[^\]]{1,60}\](?: ?<std\w{3,4}>)?:? ?",
    r"\([^()]{0,100}pid=\d+[^()]{0,60}\) ?",
    r"(?:\w[\w.-]{0,80}/){0,6}[\w.-]{0,80}?\d[\w.-]{0,80}[: ] ?",
    rf"{TIME} ",
    r"(?:ERROR|CRITICAL|FATAL)[: ] ?",
)
_START = rf"^(?:{'|'.join(_PREFIXES)}){{0,5}}"
"""What launchers and loggers put before the lines of a process, of which ranks, hosts and pods have a digit."""
_GLOG = r"(?:\d{3,4} \d\d:\d\d:\d\d\.\d+)? (?:\d+ )?[\w./-]+\.(?:cpp|cc|h|cu|py):\d+\] "
"""How a message in the form of glog goes on behind its level."""
_FAILED = re.compile(
    # Open MPI and its daemons (orterun's and prterun's help texts)
    r"exited on signal \d|process(?:es)? returned\b|non-zero (?:exit code|status)|the job (?:has been|to be) aborted"
    r"|MPI_A(?:BORT|bort) (?:was invoked|\()|exited improperly|(?:ORTE|PRTE|PRRTE?|ORTE daemon) has lost communication"
    r"|An ORTE daemon has unexpectedly failed|not enough slots available"
    r"|(?:ORTE|PRTE) was unable to reliably start"
    # Slurm, but for what its daemon goes on without
    r"|srun: error: |slurmstepd: error: (?!couldn't chdir|Unable to create TMPDIR|acct_gather|spank)"
    # Python, frameworks, C and the shell
    rf"|{_START}Traceback \(most recent call last\)|{_START}\s*[\w.]*[a-z]Error: \S|{_START}(?:\w+\.)+\w*Error$"
    r"|Segmentation fault|Bus error\b|core dumped|\bSIG(?:SEGV|BUS|ABRT|KILL)\b"
    r"|terminate called after|^Killed$|: line \d+: +\d+ (?:Killed|Aborted)|^panic: |CUDA error: |OOM when allocating"
    r"|command terminated with exit code [1-9]|exits with return code = -?[1-9]"
    # The kernel and Kubernetes, where memory ran out
    r"|\bOOMKilled\b|\b[Oo]ut of memory: Kill|\boom-kill:"
    # PyTorch: its watchdog over NCCL (ProcessGroupNCCL.cpp), its stores, and torchrun (elastic)
    rf"|{_START}\[?[EF]{_GLOG}|Watchdog caught collective operation timeout|ChildFailedError"
    r"|detected by watchdog at work|Timeout at NCCL work"
    r"|failed \(exitcode: -?[1-9]|Root Cause \(first observed failure\)"
    r"|server socket has failed to listen|client socket has timed out|Horovod has been shut down"
    # nccl-tests, perftest
    r"|Out of bounds values\s*: \d+ FAILED|Test (?:CUDA|NCCL) failure |Completion with error|Failed status \d"
    # The driver: a GPU is lost, its memory or its links are damaged
    r"|\bXid\b.*: (?:31|43|45|48|62|63|64|74|79|92|94|95|119|120|14\d)\b|GPU has fallen off the bus"
)
_MILD = re.compile(r"\b(?:DEBUG|INFO|WARN(?:ING)?)\b")
"""Levels of messages of which none is a failure, but for those that a program cannot print and go on."""
_UNREACHED = re.compile(
    r"\bssh: (?:connect to host|Could not resolve hostname)|Permission denied \((?:publickey|password|keyboard|gssapi)"
    r"|Host key verification failed|kex_exchange_identification: |Authentication refused: |Load key \"[^\"]*\": "
    r"|sshd: no hostkeys available|Missing privilege separation directory|Could not load host key"
)
"""SSH that does not get there: a launcher may try again."""
_HINTS = (
    *("rror", "fail", "FAIL", "Fail", "atchdog", "illed", "Kill", "kill", "bort", "SIG", "exit", "Traceback", " lost"),
    *("terminate", "egmentation", "dumped", "OOM", "Xid", "GPU has", "NCCL work", "returned", "slots", "reliably"),
    *("timed out", "shut down", "panic", "return code", "ssh", "denied", "kex_", "refused", "Load key", "privilege"),
    *("Root Cause", ".cpp:", ".cc:"),
)
"""Words of which every such line has one: a search for them costs little."""


def has_hint(text: str) -> bool:
    """Return whether a line may be one of a failure, whatever its digits are."""
    return any(map(text.__contains__, _HINTS))  # half the time of a generator


def hinted(lines: Sequence[bytes]) -> frozenset[int]:
    """Return the indices of the lines of a block that have a hint: a tenth of the time of looking at each line."""
    block = b"\n".join(lines)
    words = [word for word in map(str.encode, _HINTS) if word in block]
    return frozenset(index for word in words for index, line in enumerate(lines) if word in line)


def is_failure(text: str) -> bool:
    """Return whether a line reports a failure after which a program does not go on."""
    match = _FAILED.search(text) if has_hint(text) else None
    return match is not None and (match.start() > 0 or _MILD.search(text, 0, match.end()) is None)


def is_unreached(text: str) -> bool:
    """Return whether SSH did not get to a host."""
    return _UNREACHED.search(text) is not None


def reports_failure(text: str) -> bool:
    """Return whether a line reports a failure, and is stored however many there are."""
    return has_hint(text) and (is_failure(text) or is_unreached(text))


_PYTORCH_WARNED = re.compile(rf"{_START}\[?W{_GLOG}(?P<message>.*)")
_BANNER = re.compile(r"\*+$|\s*$|Setting OMP_NUM_THREADS environment variable for each process")
"""What torchrun prints of every job of several processes: that each has one thread for OpenMP, in a frame."""


def is_pytorch_warning(text: str) -> bool:
    """Return whether PyTorch warns in the form of glog: of process groups, sockets, its allocator; not the banner."""
    match = _PYTORCH_WARNED.match(text)
    return match is not None and _BANNER.match(match["message"]) is None


_CONNECTION = re.compile(
    r"[Cc]onnect to (?P<host>[^\s<]+)<(?P<port>\d+)> (?:failed|returned) ?:? ?(?P<why>[^,]+)"
    r"|remote peer (?P<closing>[^\s<]+)<\d+>"
    r"|\b(?:recv|send) (?:from|to) (?P<other>[^\s<]+)<\d+> failed ?: (?P<reason>.+)"
)
"""NCCL's sockets."""
_COMPLETION = re.compile(r"Got completion from peer (?P<peer>[^\s<]+)<\d+> with (?P<what>status=\w+|error \d+)")
_STORE = re.compile(
    r"\[(?P<rank>\d+)\] is setting up NCCL communicator .* from \[(?P<root>\d+)\] .*got error: (?P<why>.+)"
)
_SLURM = re.compile(r"srun: error: (?P<node>[\w.-]+): (?P<tasks>tasks? [\d,-]+): (?P<why>.+)")
_SSH = re.compile(
    r"ssh: (?:connect to host (?P<host>\S+) port (?P<port>\d+)|Could not resolve hostname (?P<name>[^:\s]+)): "
    r"(?P<why>.+)"
)
_DENIED = re.compile(r"(?P<host>\S+): Permission denied \((?P<ways>[\w,-]+)\)")
_SIGNALLED = re.compile(r"process rank (?P<rank>\d+) with PID \d+ on node (?P<node>\S+) exited on (?P<why>signal \d+)")
_MOST = 3


def failure_facts(lines: Iterable[str]) -> tuple[str, ...]:
    """Return what lines of a failure report, each as a clause; what launchers report comes first."""
    texts = list(lines)
    clauses = (fact for read in (_launched, _peers) for text in texts for fact in read(text))
    return tuple(dict.fromkeys(clauses))[:_MOST]


def _launched(text: str) -> Iterator[str]:
    if (signalled := _SIGNALLED.search(text)) is not None:
        yield f"rank {signalled['rank']} on {signalled['node']} ended by {signalled['why']}"
    if (slurm := _SLURM.search(text)) is not None:
        yield f"{slurm['tasks']} on {slurm['node']}: {slurm['why']}"
    if (ssh := _SSH.search(text)) is not None:
        yield f"{ssh['name'] or ssh['host']}{':' + ssh['port'] if ssh['port'] else ''}: {ssh['why']}"
    if (denied := _DENIED.search(text)) is not None:
        yield f"{denied['host']} refuses {denied['ways']}"


def _peers(text: str) -> Iterator[str]:
    if (way := _CONNECTION.search(text)) is not None:
        if way["closing"]:
            yield f"{way['closing']} closed its connection"
        elif way["other"]:
            yield f"{way['other']}: {way['reason']}"
        else:
            yield f"{way['host']}:{way['port']}: {way['why'].strip()}"
    if (completion := _COMPLETION.search(text)) is not None:
        yield f"peer {completion['peer']}: {completion['what'].removeprefix('status=')}"
    if (store := _STORE.search(text)) is not None:
        yield f"rank {store['rank']} has no answer of rank {store['root']}: {store['why'].rstrip('.')}"
