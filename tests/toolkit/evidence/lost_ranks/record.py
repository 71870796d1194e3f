"""Records what PyTorch prints and dumps when one rank of a job is stopped or killed.

    python record.py --python PYTHON_WITH_TORCH [--backend gloo] [--ranks 3] CASE FOLDER

FOLDER gets `CASE.log`, with the times of `kubectl logs --timestamps`, the dumps, and over NCCL what its RAS answered so
many seconds after the event: `CASE_ras_SECONDS.txt` and `.json`. Names of the host and of folders are replaced.
"""

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

TRAINING = Path(__file__).with_name("training.py")
AT_STEP = 33
_PID = re.compile(r"rank (\d+) pid (\d+) attempt 0")
_ENVIRONMENT = {
    "TORCH_FR_BUFFER_SIZE": "2000",
    "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
    # Those of a job that restarts: components/jobs/torch_job.py.
    "PET_RDZV_BACKEND": "c10d",
    "PET_RDZV_ID": "job",
    "PET_RDZV_ENDPOINT": "localhost:29511",
    "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
}


@dataclass(frozen=True)
class Case:
    """What is done to rank 1 after a step."""

    signal: signal.Signals | None
    """None: the program itself lets the rank wait."""
    restarts: int = 2
    arguments: tuple[str, ...] = ()
    asked: tuple[int, ...] = (3,)
    """When RAS is asked, s after the event."""


CASES = {
    "killed": Case(signal.SIGKILL),
    "stopped": Case(signal.SIGSTOP),
    "ended": Case(signal.SIGKILL, restarts=0),
    # RAS calls a process dead that was silent for a minute.
    "silent": Case(signal.SIGSTOP, restarts=0, arguments=("--timeout", "100"), asked=(3, 30, 75)),
    "behind": Case(None, arguments=("--timeout", "60", "--wait-after", str(AT_STEP)), asked=(5,)),
}
_PACKAGES = re.compile(r"[\w./-]*site-packages/")
_RAS = 28028
"""Port of NCCL's RAS on the loopback interface: NCCL_RAS_ADDR's default."""
_RAS_PROTOCOL = 2
_RAS_TRIES = 20
_ADDRESS = re.compile(r"\b\d+\.\d+\.\d+\.\d+\b")


def main() -> int:
    """Record a case, and return torchrun's exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--backend", choices=("gloo", "nccl"), default="gloo")
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("case", choices=CASES)
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
    case = CASES[options.case]
    command = [options.python, "-m", "torch.distributed.run", "--nproc-per-node", str(options.ranks), "--max-restarts"]
    command += [str(case.restarts), str(TRAINING)]
    command += ["--backend", options.backend, "--folder", str(work), *case.arguments]
    environment = {**_ENVIRONMENT, **os.environ, "TORCH_FR_DUMP_TEMP_FILE": str(work / "nccl_rank_")}
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
                if options.backend == "nccl":
                    _ask(options, 0)
                    for seconds in case.asked:
                        threading.Timer(seconds, _ask, (options, seconds)).start()
                if case.signal is not None:
                    os.kill(victim, case.signal)
    return process.wait()


def _ask(options: argparse.Namespace, seconds: int) -> None:
    """Write what RAS answers, in both forms."""
    for ending in ("txt", "json"):
        try:
            answer = _ras(ending == "json")
        except OSError as error:
            answer = f"{error}\n"
        (options.folder / f"{options.case}_ras_{seconds}.{ending}").write_text(answer)


def _ras(json: bool, seconds: int = 5) -> str:
    """Ask NCCL's RAS as `ncclras -v` does, which PyTorch's packages do not bring; `seconds`: how long NCCL waits.

    All processes of a host listen there, and Linux gives a connection to any, also to one that is stopped.
    """
    for left in reversed(range(_RAS_TRIES)):
        with suppress(*[TimeoutError] if left else []):
            return _answer(json, seconds)
    raise TimeoutError


def _answer(json: bool, seconds: int) -> str:
    with socket.create_connection(("localhost", _RAS), timeout=1) as connection:
        stream = connection.makefile("rw", newline="\n")
        for line in (f"CLIENT PROTOCOL {_RAS_PROTOCOL}", f"TIMEOUT {seconds}", *(["SET FORMAT json"] if json else [])):
            stream.write(f"{line}\n")
            stream.flush()
            answer = stream.readline().strip()
            if not answer.startswith(("SERVER PROTOCOL", "OK")):
                return f"{line}: {answer}\n"
        connection.settimeout(4 * seconds)
        stream.write("VERBOSE STATUS\n")
        stream.flush()
        return _ADDRESS.sub("10.128.2.31", stream.read())


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
