"""The messages of PyTorch 2.1 to 2.12 that hold facts of a job's processes.

They are from torch/csrc/distributed/c10d (ProcessGroupNCCL.cpp, TCPStore.cpp, socket.cpp) and torch/distributed
(elastic, distributed_c10d.py). They contain no figure: the shape of a line is matched, too.
"""

import re

RANK = r"(?:\[(?:rank|default)=?\d+\]: ?){0,2}"
"""What PyTorch and torchrun put before the lines of a process."""
GLOBAL_RANK = re.compile(r"\[rank=?(?P<rank>\d+)\]:")
_GLOG = r"\[?[EFW](?:\d{3,4} \d\d:\d\d:\d\d\.\d+ (?:\d+ )?| )[\w./-]+\.(?:cpp|cc|hpp|h|py):\d+\] "
_PYTHON = r"(?:torch\.distributed\.[\w.]+: \[(?:ERROR|CRITICAL)\] |(?:ERROR|CRITICAL):torch\.distributed\.[\w.]+:)"
_RAISED = r"(?:\s*what\(\):\s+|[\w.]*(?:Error|Exception): )"

FAILED = re.compile(
    r"Watchdog caught collective operation timeout: WorkNCCL\(|[Ll]ast enqueued (?:NCCL )?work: |watchdog got stuck for"
    r"|waiting for (?:clients|workers)\. \d+/|in store based barrier on rank|The client socket has (?:timed|failed)"
    r"|connect\(\) timed out\. Original|server socket has failed to (?:listen|bind)|EADDRINUSE|Rendezvous\w+Error\b"
    r"|failed \(exitcode: -?\d+\) local_rank: \d+ \(pid: |are the lagging ranks|didn't (?:join|finish) collective #"
    r"|failed to pass monitoredBarrier"
)
"""What is in each line that reports a failure."""
HARMLESS = re.compile(rf"{RANK}\[?[IW](?:\d{{3,4}} | )")
"""How a line begins with which PyTorch warns or informs: it tries again."""
TABLE = re.compile(
    r"(?:Failures|Root Cause \(first observed failure\)):$|\[\d+\]:$"
    r"|\s+(?:time|host|rank|exitcode|error_file|traceback)\s*: \S|\s+<NO_OTHER_FAILURES>$"
)
"""A line of torchrun's table."""
SUCCEEDED = re.compile(r"worker group successfully finished\b")
STARTS = (
    rf"{RANK}(?:{_GLOG}|{_PYTHON}|{_RAISED}|\[(?:PG|Rank) |[\w.]*Rendezvous\w+Error\b)"
    r"|(?:Failures|Root Cause \(first observed failure\)):$"
    r"|\s+(?:- )?(?:To our best knowledge, ranks \[|\[\d[\d, ]*\] (?:joined but|finished collective))"
    rf"|{RANK}(?:I\d{{3,4}} [\d:.]+ (?:\d+ )?\S+\] |\[?INFO\]?[: ]\S*:? ?)?(?:\[\w+\] )?"
    r"worker group successfully finished\b"
)
"""How a line begins that may be the first: the parser decides."""

TIMED_OUT = re.compile(
    r"(?:\[(?:PG (?:ID \d+ PG GUID )?(?P<group>[^\]]{0,200}) )?Rank (?P<rank>\d+)\] )?"
    r"Watchdog caught collective operation timeout: "
    r"WorkNCCL\(SeqNum=(?P<work>\d+), OpType=(?P<operation>\w+)(?:,.{0,400}?\) ran for (?P<ms>\d+) milliseconds)?"
)
PROGRESS = re.compile(
    r"(?:\[PG (?:ID \d+ PG GUID )?(?P<group>[^\]]{0,200}?) ?Rank (?P<rank>\d+)\] |\[[Rr]ank ?(?P<only>\d+)\]:? ).*?"
    r"[Ll]ast enqueued (?:NCCL )?work: (?P<enqueued>-?\d{1,20}),.*?last completed (?:NCCL )?work: "
    r"(?P<completed>-?\d{1,20})"
)
NAMED = re.compile(
    r"(?:ranks \[(?P<missing>\d[\d, ]*)\] are the lagging|\[(?P<lagging>\d[\d, ]*)\] (?:joined but|finished coll)"
    r"|Ranks? (?P<barred>\d[\d, ]*) failed to pass monitoredBarrier)"
)
STUCK = re.compile(r"Rank (?P<rank>\d+)\].*watchdog got stuck for \d+ seconds")
JOINED = re.compile(
    r"Timed out after (?P<seconds>\d+) seconds waiting for (?:clients|workers)\. (?P<joined>\d+)/(?P<expected>\d+) "
)
BARRIER = re.compile(
    r"in store based barrier on rank:? \d+, for key: \S+ \(world_size=(?P<expected>\d+), "
    r"(?:num_workers_joined|worker_count)=(?P<joined>\d+), timeout="
)
CONNECT = re.compile(
    r"The client socket has (?:timed out after (?P<limit>\d+)(?P<unit>ms|s)?|failed to connect to any).*?"
    r" (?:of|to) \(?(?P<host>[^\s,()]+?)(?:, |:)(?P<port>\d+)\b"
)
LISTEN = re.compile(
    r"server socket has failed to (?=listen|bind)(?:.*?(?:bind to|listen on) (?:\[[^\]]*\]|[\d.]+|\?UNKNOWN\?):?"
    r"(?P<bound>\d*) \(errno: -?\d+ - (?P<error>[^)]*)\))?"
)
IN_USE = re.compile(r"\bport: (?P<port>\d+),.*EADDRINUSE(?:, message: (?P<message>.*))?")
RENDEZVOUS = re.compile(r"(?P<error>Rendezvous\w+Error)\b(?:: (?P<why>.*))?")
EXITED = re.compile(r"failed \(exitcode: (?P<code>-?\d+)\) local_rank: (?P<local>\d+) \(pid: \d+\)")
FIELD = re.compile(r"\s+(?P<name>\w+)\s*: (?P<value>.*)")
RANKED = re.compile(r"(?P<rank>\d+) \(local_rank: (?P<local>\d+)\)")
EXIT_CODE = re.compile(r"(?P<code>-?\d+) ")
