"""Records what PyTorch prints and dumps when one rank of a job is stopped or killed.

    python record.py --python PYTHON_WITH_TORCH [--backend gloo] [--ranks 3] CASE FOLDER

CASE is `killed` (restarted by torchrun), `stopped` (the same) or `ended` (killed, and not restarted). FOLDER gets
`CASE.log`, with the times of `kubectl logs --timestamps`, and the dumps. Names of the host and of folders are replaced.
"""

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

TRAINING = Path(__file__).with_name("training.py")
AT_STEP = 33
_PID = re.compile(r"rank (\d+) pid (\d+) attempt 0")
_ENVIRONMENT = {
    "TORCH_FR_BUFFER_SIZE": "2000",
    "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
    # In PyTorch 2.12.1 the processes of a restart otherwise read the addresses of those before, and fail.
    "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
}
_PACKAGES = re.compile(r"[\w./-]*site-packages/")


def main() -> int:
    """Record a case, and return torchrun's exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--backend", choices=("gloo", "nccl"), default="gloo")
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("case", choices=("killed", "stopped", "ended"))
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="lost-ranks-") as work:
        status = _run(options, Path(work))
        for dump in sorted(Path(work).glob("*_rank_*")):
            content = dump.read_bytes()
            for name, neutral in {str(_packages(options.python)): "/packages", str(TRAINING.parent): "/app"}.items():
                # A text of a pickle has its length before it.
                content = content.replace(name.encode(), neutral.ljust(len(name), "/").encode())
            (options.folder / f"{options.case}_{dump.name}").write_bytes(content)
    return status


def _run(options: argparse.Namespace, work: Path) -> int:
    restarts = "0" if options.case == "ended" else "2"
    command = [options.python, "-m", "torch.distributed.run", "--nproc-per-node", str(options.ranks), "--max-restarts"]
    command += [restarts, str(TRAINING)]
    command += ["--backend", options.backend, "--folder", str(work)]
    environment = {**os.environ, **_ENVIRONMENT, "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": str(work / "nccl_rank_")}
    names = {str(work): "/checkpoints", str(TRAINING.parent): "/app", options.python: "python"}
    names[socket.gethostname()] = "pod-0"
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1, env=environment
    )
    victims: dict[int, int] = {}
    with (options.folder / f"{options.case}.log").open("w") as log:
        for line in process.stdout or ():
            now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
            log.write(f"{now} {_neutral(line, names)}")
            if (match := _PID.search(line)) is not None:
                victims[int(match[1])] = int(match[2])
            if f"step {AT_STEP}:" in line and (victim := victims.pop(1, None)) is not None:
                os.kill(victim, signal.SIGSTOP if options.case == "stopped" else signal.SIGKILL)
    return process.wait()


def _packages(python: str) -> Path:
    """Return the folder of the packages of a Python."""
    command = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    return Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


def _neutral(line: str, names: Mapping[str, str]) -> str:
    for name, neutral in names.items():
        line = line.replace(name, neutral)
    return _PACKAGES.sub("", line)


if __name__ == "__main__":
    sys.exit(main())
