"""A preview of one of our own stacks without a cluster: nothing of the developer's own state or clusters is touched."""

from pathlib import Path
from typing import Any, cast

import yaml

from stacks.environment import SECRET_KEY
from stacks.loading.settings import KEY, PROJECT, load
from tests.engine.kit import Stack

ROOT = Path(__file__).parents[2]
PACK = ROOT / "policies"


def stack(name: str, folder: Path) -> Stack:
    """Return the stack `name` in a project of its own below `folder`, with invented accounts and no cluster."""
    made = Stack(folder / "project", cast(Any, None), name=name, project=PROJECT).start("environment.py")
    settings = made.folder / f"Pulumi.{name}.yaml"
    platform = yaml.safe_load((ROOT / settings.name).read_text())["config"][f"{PROJECT}:{KEY}"]
    platform["cluster"]["kubeconfig"] = str(folder / "no-kubeconfig")
    storage = load(name, ROOT).storage
    accounts = {each: {"username": "nobody", "password": "not-a-word"} for each in storage.accounts} if storage else {}
    content = yaml.safe_load(settings.read_text())
    content["config"] = {
        f"{PROJECT}:{KEY}": platform,
        f"{PROJECT}:{SECRET_KEY}": accounts,
        "kit:root": str(ROOT),
    }
    settings.write_text(yaml.safe_dump(content))
    return made
