"""What the lines of a failure say together: which rank was behind, which peer did not come, which port was in use."""

import re
from collections.abc import Iterable, Iterator, Sequence

from evidence.wording import some

_STATUS = re.compile(
    r"(?:\[rank(?P<global>\d+)\].*)?\[PG (?:ID \d+ PG GUID )?(?P<group>\w+)[^\]]*? Rank (?P<rank>\d+)\].*?"
    r"last enqueued (?:NCCL )?work: (?P<enqueued>-?\d+), last completed (?:NCCL )?work: (?P<completed>-?\d+)"
)
"""ProcessGroupNCCL of PyTorch 2.2 and later, in each of its wordings; its rank is that of the group."""
_WORK = re.compile(
    r"(?:\[rank(?P<global>\d+)\].*)?\[Rank (?P<rank>\d+)\] Watchdog caught .*?"
    r"SeqNum=(?P<work>\d+), OpType=(?P<call>\w+)"
)
_DESYNC = re.compile(
    r"ranks \[(?P<missing>[\d, ]+)\] are the lagging|\[(?P<lagging>[\d, ]+)\] (?:finished|joined) .*didn't"
)
_CLIENTS = re.compile(r"after (?P<seconds>\d+) seconds waiting for (?:clients|workers)\. (?P<came>\d+)/(?P<all>\d+)")
_BOUND = re.compile(r"failed to bind to \S*?:(?P<port>\d+) \(errno: 98|\bport: (?P<newer>\d+), .*EADDRINUSE")
_SILENT = re.compile(
    r"client socket has timed out after (?P<time>\d+ ?m?s) .*"
    r"connect to \(?(?P<host>[^\s,()]+?)(?:, |:)(?P<port>\d+)\)?\.?"
)
_ROW = re.compile(r"^\W*(?P<key>host|rank|exitcode) +: (?P<value>\S+)")
_ENDED = re.compile(r"failed \(exitcode: (?P<code>-?\d+)\) local_rank: (?P<rank>\d+)")
_SLURM = re.compile(r"srun: error: (?P<node>[\w.-]+): (?P<tasks>tasks? [\d,-]+): (?P<why>.+)")
_SSH = re.compile(
    r"ssh: (?:connect to host (?P<host>\S+) port (?P<port>\d+)|Could not resolve hostname (?P<name>[^:\s]+)): "
    r"(?P<why>.+)"
)
_DENIED = re.compile(r"(?P<host>\S+): Permission denied \((?P<ways>[\w,-]+)\)")
_SIGNALLED = re.compile(r"process rank (?P<rank>\d+) with PID \d+ on node (?P<node>\S+) exited on (?P<why>signal \d+)")
_MOST = 3


def facts(lines: Iterable[str], ranks: int | None = None) -> tuple[str, ...]:
    """Return what lines of a failure say, each as a clause; `ranks` is how many the job has, None: not known."""
    texts = list(lines)
    found = (*_behind(texts, ranks), *_rendezvous(texts), *_launched(texts))
    return tuple(dict.fromkeys(found))[:_MOST]


def _behind(texts: Sequence[str], ranks: int | None) -> Iterator[str]:
    """Yield which ranks had finished less than others of their group, else where all that are known of waited."""
    groups: dict[str, dict[int, int]] = {}
    calls: dict[str, set[int]] = {}
    for text in texts:
        if (status := _STATUS.search(text)) is not None:
            completed = int(status["completed"])
            # Older versions print a number that was never set.
            known = completed <= int(status["enqueued"])
            rank = int(status["global"] or status["rank"])
            groups.setdefault(status["group"], {}).setdefault(rank, completed if known else -1)
        if (work := _WORK.search(text)) is not None:
            calls.setdefault(f"{work['call']} {work['work']}", set()).add(int(work["global"] or work["rank"]))
        if (desync := _DESYNC.search(text)) is not None:
            yield f"PyTorch names rank {desync['missing'] or desync['lagging']} as behind"
    is_clear = False
    for completed_by in groups.values():
        most = max(completed_by.values())
        for rank, completed in sorted(completed_by.items(), key=lambda row: (row[1], row[0])):
            if completed < most:
                is_clear = True
                yield f"rank {rank} is behind: {max(completed, 0)} of {most} collectives"
    if is_clear:
        return
    waited = {rank for some_ranks in (*groups.values(), *calls.values()) for rank in some_ranks}
    if ranks is not None and len(waited) > 1 and 0 < len(absent := {*range(ranks)} - waited) <= _MOST:
        yield f"no time-out of rank {_numbers(absent)}, for which the others waited"
    for call, some_ranks in calls.items():
        yield f"rank {_numbers(some_ranks)} waited in {call}"


def _numbers(ranks: Iterable[int]) -> str:
    return some(map(str, sorted(ranks)))


def _rendezvous(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        if (came := _CLIENTS.search(text)) is not None:
            yield f"{came['came']} of {came['all']} processes came within {came['seconds']} s"
        if (bound := _BOUND.search(text)) is not None:
            yield f"port {bound['port'] or bound['newer']} is in use"
        if (silent := _SILENT.search(text)) is not None:
            yield f"no answer from {silent['host']}:{silent['port']} within {silent['time']}"


def _launched(texts: Sequence[str]) -> Iterator[str]:
    """Yield which process, task or host a launcher names."""
    root: dict[str, str] | None = None
    for text in texts:
        if "Root Cause (first observed failure)" in text:
            root = {}
        if root is not None and (row := _ROW.search(text)) is not None:
            root.setdefault(row["key"], row["value"])
            if len(root) == 3:  # noqa: PLR2004 - its three rows
                yield f"rank {root['rank']} on {root['host']} ended first, with exit code {root['exitcode']}"
                root = None
        if (signalled := _SIGNALLED.search(text)) is not None:
            yield f"rank {signalled['rank']} on {signalled['node']} ended by {signalled['why']}"
        if (slurm := _SLURM.search(text)) is not None:
            yield f"{slurm['tasks']} on {slurm['node']}: {slurm['why']}"
        if (ssh := _SSH.search(text)) is not None:
            yield f"{ssh['name'] or ssh['host']}{':' + ssh['port'] if ssh['port'] else ''}: {ssh['why']}"
        if (denied := _DENIED.search(text)) is not None:
            yield f"{denied['host']} refuses {denied['ways']}"
    for text in texts:
        if (ended := _ENDED.search(text)) is not None:
            yield f"local rank {ended['rank']} ended first, with exit code {ended['code']}"
            return
