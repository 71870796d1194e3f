"""What launchers say of a failure: which process, task or host. PyTorch's own lines are `tools.torch_distributed`'s."""

import re
from collections.abc import Iterable, Iterator

_SLURM = re.compile(r"srun: error: (?P<node>[\w.-]+): (?P<tasks>tasks? [\d,-]+): (?P<why>.+)")
_SSH = re.compile(
    r"ssh: (?:connect to host (?P<host>\S+) port (?P<port>\d+)|Could not resolve hostname (?P<name>[^:\s]+)): "
    r"(?P<why>.+)"
)
_DENIED = re.compile(r"(?P<host>\S+): Permission denied \((?P<ways>[\w,-]+)\)")
_SIGNALLED = re.compile(r"process rank (?P<rank>\d+) with PID \d+ on node (?P<node>\S+) exited on (?P<why>signal \d+)")
_MOST = 3


def facts(lines: Iterable[str]) -> tuple[str, ...]:
    """Return what lines of a failure say, each as a clause."""
    return tuple(dict.fromkeys(fact for line in lines for fact in _launched(line)))[:_MOST]


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
