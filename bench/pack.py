"""Measures, in one run, what the policy pack costs in a preview of a stack, without a cluster.

    python -m bench.pack [--stack prod] [--runs 5]

Previews with and without the pack take turns, so that both meet the same machine. The ratio is that of the fastest of
each: what else the machine does only ever adds time.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench.figures import judge, print_machine
from tests.engine import previews
from tests.engine.kit import Stack
from toolkit.cli.shared.console import console

BUDGET = 1.3  # with / without


def main() -> int:
    """Measure and print; the exit status says whether the budget was kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stack", default="prod", help="stack to preview")
    parser.add_argument("--runs", type=int, default=5, help="previews with the pack, and as many without")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hpc-bench-") as folder:
        stack = previews.stack(arguments.stack, Path(folder))
        advice = Path(folder) / "configuration.json"  # a violation is not a reason to measure nothing
        advice.write_text('{"all": "advisory"}')
        pack = ("--policy-pack", str(previews.PACK), "--policy-pack-config", str(advice))
        pairs = [(_seconds(stack), _seconds(stack, *pack)) for _ in range(arguments.runs)]
    without, with_pack = ([pair[side] for pair in pairs] for side in (0, 1))
    console.print(f"preview of stack {arguments.stack}, {arguments.runs} runs each")
    for title, seconds in (("without the pack", without), ("with the pack", with_pack)):
        console.print(f"  {title:18} fastest {min(seconds):6.2f} s   median {statistics.median(seconds):6.2f} s")
    print_machine()
    return 0 if judge("with / without", min(with_pack) / min(without), BUDGET) else 1


def _seconds(stack: Stack, *flags: str) -> float:
    begin = time.monotonic()
    done = stack.preview(*flags)
    if done.status != 0:
        raise SystemExit(f"the preview failed:\n{done.text}")
    return time.monotonic() - begin


if __name__ == "__main__":
    sys.exit(main())
