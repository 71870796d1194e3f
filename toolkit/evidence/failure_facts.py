"""What launchers and NCCL report of a failure: which process, task, host or peer; PyTorch has a parser of its own."""

import re
from collections.abc import Iterable, Iterator

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
    """Yield which process, task or host a launcher names."""
    if (signalled := _SIGNALLED.search(text)) is not None:
        yield f"rank {signalled['rank']} on {signalled['node']} ended by {signalled['why']}"
    if (slurm := _SLURM.search(text)) is not None:
        yield f"{slurm['tasks']} on {slurm['node']}: {slurm['why']}"
    if (ssh := _SSH.search(text)) is not None:
        yield f"{ssh['name'] or ssh['host']}{':' + ssh['port'] if ssh['port'] else ''}: {ssh['why']}"
    if (denied := _DENIED.search(text)) is not None:
        yield f"{denied['host']} refuses {denied['ways']}"


def _peers(text: str) -> Iterator[str]:
    """Yield which peer of a connection or queue pair is named."""
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
