"""Trains on synthetic data with DistributedDataParallel over NCCL, and prints its rate.

    torchrun --nproc-per-node 2 synthetic_training.py --model resnet50 [--batch 256] [--steps 60]
    torchrun --nproc-per-node 2 synthetic_training.py --model transformer [--batch 16]
    torchrun --nproc-per-node 2 synthetic_training.py --checkpoint /checkpoints/train [--every 100]

bf16, data on the GPU: what is measured is computation, and the all-reduce of gradients beside it. ResNet-50 is
torchvision's; the transformer is a decoder of 350 million parameters on sequences of 1024 tokens. With a folder of
checkpoints a run that is started again goes on from the last complete one.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WARM_UP = 10
"""Steps before the rate is taken: cuDNN chooses its kernels, and buckets are built."""
REPORT = 10
_CLASSES, _PIXELS = 1000, 224
_VOCABULARY, _TOKENS, _WIDTH, _LAYERS, _HEADS = 32_000, 1024, 1024, 24, 16

Loss = Callable[[nn.Module], torch.Tensor]


class Block(nn.Module):  # type: ignore[misc]
    """One layer of the decoder."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(_WIDTH), nn.LayerNorm(_WIDTH)
        self.mixed, self.out = nn.Linear(_WIDTH, 3 * _WIDTH), nn.Linear(_WIDTH, _WIDTH)
        self.wide = nn.Sequential(nn.Linear(_WIDTH, 4 * _WIDTH), nn.GELU(), nn.Linear(4 * _WIDTH, _WIDTH))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the layer's output."""
        batch, length, _ = tokens.shape
        parts = self.mixed(self.before(tokens)).view(batch, length, 3, _HEADS, -1).permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
        tokens = tokens + self.out(seen.transpose(1, 2).reshape(batch, length, _WIDTH))
        return tokens + self.wide(self.after(tokens))


class Decoder(nn.Module):  # type: ignore[misc]
    """A small language model."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(_VOCABULARY, _WIDTH), nn.Embedding(_TOKENS, _WIDTH)
        self.layers = nn.Sequential(*(Block() for _ in range(_LAYERS)))
        self.norm, self.head = nn.LayerNorm(_WIDTH), nn.Linear(_WIDTH, _VOCABULARY, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits of the next token."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.norm(self.layers(self.words(tokens) + self.places(places))))


def resnet50(batch: int) -> tuple[nn.Module, Loss]:
    """Return the model, and the loss of a batch of noise."""
    from torchvision.models import resnet50  # noqa: PLC0415 - the transformer does without

    torch.backends.cudnn.benchmark = True
    model = resnet50().cuda().to(memory_format=torch.channels_last)
    images = torch.randn(batch, 3, _PIXELS, _PIXELS, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(_CLASSES, (batch,), device="cuda")
    return model, lambda used: nn.functional.cross_entropy(used(images), labels)


def transformer(batch: int) -> tuple[nn.Module, Loss]:
    """Return the model, and the loss of a batch of noise."""
    tokens = torch.randint(_VOCABULARY, (batch, _TOKENS + 1), device="cuda")
    before, after = tokens[:, :-1], tokens[:, 1:].reshape(-1)
    return Decoder().cuda(), lambda used: nn.functional.cross_entropy(used(before).view(-1, _VOCABULARY), after)


MODELS = {"resnet50": (resnet50, 256, "images"), "transformer": (transformer, 16, "sequences")}
"""Name -> what makes it, batch of a GPU, what a sample is."""


class Training:
    """A model with its optimiser; `step` trains it once."""

    def __init__(self, model: nn.Module, loss: Loss) -> None:
        self._model, self._loss = model, loss
        self._optimiser = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)

    def step(self) -> torch.Tensor:
        """Train on the batch once, and return the loss."""
        self._optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = self._loss(self._model)
        loss.backward()
        self._optimiser.step()
        return loss.detach()

    def save(self, file: Path, step: int) -> None:
        """Store the state after a step; the file has its name only when it is complete."""
        part = file.with_suffix(".part")
        torch.save({"model": self._model.state_dict(), "optimiser": self._optimiser.state_dict(), "step": step}, part)
        part.replace(file)

    def load(self, file: Path) -> int:
        """Go on from a stored state, and return its step."""
        state = torch.load(file, map_location="cuda", weights_only=True)
        self._model.load_state_dict(state["model"])
        self._optimiser.load_state_dict(state["optimiser"])
        return int(state["step"])

    def seconds(self, steps: int) -> float:
        """Return the time of so many steps."""
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(steps):
            self.step()
        torch.cuda.synchronize()
        return time.perf_counter() - begin


def main() -> int:
    """Train, and print a rate every few steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=sorted(MODELS), default="resnet50")
    parser.add_argument("--batch", type=int, help="of each GPU")
    parser.add_argument("--steps", type=int, default=60, help="after the first ten")
    parser.add_argument("--checkpoint", type=Path, help="folder that all ranks share; without it none is saved")
    parser.add_argument("--every", type=int, default=100, help="steps between checkpoints, a multiple of 10")
    options = parser.parse_args()
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    dist.init_process_group("nccl", device_id=torch.device("cuda", torch.cuda.current_device()))
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)
    make, batch, sample = MODELS[options.model]
    batch = options.batch or batch
    model, loss = make(batch)
    training = Training(DistributedDataParallel(model, device_ids=[torch.cuda.current_device()]), loss)
    report = _print_line if rank == 0 else lambda _text: None
    report(f"{options.model}: {ranks} GPUs, batch {batch} of each, bf16, PyTorch {torch.__version__}")
    newest = options.checkpoint / "newest.pt" if options.checkpoint else None
    done = 0
    if newest and newest.exists():
        done = training.load(newest) - WARM_UP
        report(f"resumed at step {WARM_UP + done}")
    dist.barrier()  # no rank saves while another one still looks for a checkpoint
    training.seconds(WARM_UP)
    for first in range(done, options.steps, REPORT):
        step = WARM_UP + first + REPORT
        rate = ranks * batch * REPORT / training.seconds(REPORT)
        report(f"step {step}: {rate:.1f} {sample}/s, loss {float(training.step()):.3f}")
        if newest and step % options.every == 0:
            if rank == 0:
                newest.parent.mkdir(parents=True, exist_ok=True)
                training.save(newest, step)
                report(f"saved checkpoint of step {step}")
            dist.barrier()
    dist.destroy_process_group()
    return 0


def _print_line(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
