"""A training of a few numbers that saves checkpoints, resumes, and dumps PyTorch's flight recorder when it fails.

    torchrun --nproc-per-node 3 --max-restarts 2 training.py --backend gloo --folder FOLDER

`record.py` starts it, and stops or kills one of its ranks.
"""

import argparse
import datetime
import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

SAVE_EVERY = 20
_WIDTH = 64


def main() -> None:
    """Train, and print each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=("gloo", "nccl"), default="gloo")
    parser.add_argument("--folder", type=Path, required=True, help="for checkpoints and dumps")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--timeout", type=float, default=8, help="of the process group, s")
    parser.add_argument("--wait-after", type=int, help="step after which rank 1 waits 20 s, once")
    options = parser.parse_args()
    rank, attempt = int(os.environ["RANK"]), os.environ["TORCHELASTIC_RESTART_COUNT"]
    _report(f"rank {rank} pid {os.getpid()} attempt {attempt}")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if options.backend == "nccl" else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group(options.backend, timeout=datetime.timedelta(seconds=options.timeout))
    try:
        _train(options, rank, device)
    except RuntimeError:
        if options.backend == "gloo":
            _dump(options.folder / f"attempt_{attempt}_rank_{rank}")
        raise
    dist.destroy_process_group()


def _train(options: argparse.Namespace, rank: int, device: torch.device) -> None:
    model = nn.Linear(_WIDTH, _WIDTH).to(device)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
    done, newest = 0, options.folder / "newest.pt"
    if newest.exists():
        state = torch.load(newest, map_location=device)
        model.load_state_dict(state["model"])
        done = state["step"]
    if rank == 0:
        _report(f"resumed at step {done}" if done else "no checkpoint: start at step 0")
    trained = DistributedDataParallel(model)
    for step in range(done + 1, options.steps + 1):
        if rank == 1 and step - 1 == options.wait_after:
            time.sleep(20)
        optimiser.zero_grad()
        loss = trained(torch.randn(_WIDTH, _WIDTH, device=device)).square().mean()
        loss.backward()
        optimiser.step()
        time.sleep(0.1)
        if rank == 0:
            _report(f"step {step}: loss {float(loss.detach()):.4f}")
        if step % SAVE_EVERY == 0:
            if rank == 0:
                _save({"model": model.state_dict(), "step": step}, newest)
                _report(f"saved checkpoint of step {step}")
            dist.barrier()


def _save(state: dict[str, object], file: Path) -> None:
    part = file.with_suffix(".part")
    torch.save(state, part)
    time.sleep(0.3)
    part.rename(file)


def _dump(prefix: Path) -> None:
    """Write what the flight recorder holds, as the watchdog over NCCL does by itself."""
    # There is no public call.
    recorder = torch._C._distributed_c10d
    prefix.with_suffix(".json").write_bytes(recorder._dump_fr_trace_json())
    prefix.write_bytes(recorder._dump_fr_trace())


def _report(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
