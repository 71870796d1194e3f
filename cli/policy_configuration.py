"""What a stack's settings say to the rules, and what is set beside them."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from apis import names
from cli.errors import Problem
from cli.places import POLICIES
from policies.configuration import ConfigurationError, with_file
from policies.rules import RULES
from stacks.gpu_settings import GpuOperatorSettings
from stacks.platform import Settings


def configuration(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return the rules' configuration (`policies.configuration`) that holds them to the stack's release and machines.

    A rule with a parameter of a name that is known here gets the stack's value of it.
    """
    machine = settings.profile
    hcas = machine.hcas if settings.uses_rdma else ()
    named: dict[str, Any] = {
        # Constraints of a release that nothing serves are those of the next one that something does.
        "release": settings.version.simulated_as or "4.4",
        "kubernetes": settings.version.kubernetes,
        "pool": settings.machine_config_pool,
        "gpus_per_node": _gpus(settings),
        "pods_per_node": machine.gpus * _slices(settings),
        "devices": {
            names.RDMA_PREFIX + resource: hca.name for resource, hca in zip(settings.rdma_resources, hcas, strict=True)
        },
    }
    derived: dict[str, dict[str, Any]] = {
        "gpu-limit": {"maximum": _gpus(settings)},
        "scale-node-label": {"nodes": [node.name for node in settings.nodes if node.scale_client]},
    }
    return derived | {
        rule.name: {key: named[key] for key in rule.parameters.model_fields if key in named}
        | derived.get(rule.name, {})
        for rule in RULES
        if named.keys() & rule.parameters.model_fields.keys()
    }


def _slices(settings: Settings) -> int:
    """Return into how many parts each GPU is divided, at most; a pod may have a single one of them."""
    divided = isinstance(settings.gpu, GpuOperatorSettings) and settings.gpu.mig != "none"
    return settings.profile.gpu.mig_instances if divided else 1


def _gpus(settings: Settings) -> int:
    """Return how much nvidia.com/gpu a node has, at most: parts of GPUs are that where all of them are alike."""
    alike = isinstance(settings.gpu, GpuOperatorSettings) and settings.gpu.mig == "single"
    return settings.profile.gpus * (_slices(settings) if alike else 1)


def settled(settings: Settings, file: Path | None = None) -> dict[str, Any]:
    """Return the configuration of a stack with that of a file over it; raise Problem for a file with a fault in it."""
    try:
        return with_file(configuration(settings), file)
    except ConfigurationError as error:
        raise Problem(str(error), "Correct the file that --config names.") from None


@contextmanager
def policy_arguments(policies: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yield what makes the engine run the policies with a configuration of them."""
    with tempfile.NamedTemporaryFile("w", prefix="hpc-policies-", suffix=".json") as file:
        json.dump(policies, file)
        file.flush()
        yield ["--policy-pack", str(POLICIES), "--policy-pack-config", file.name]
