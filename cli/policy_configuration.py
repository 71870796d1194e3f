"""What a stack's settings say to the rules, and what is set beside them."""

from pathlib import Path
from typing import Any

from apis import names
from cli.errors import Problem
from policies.configuration import ConfigurationError, with_file
from policies.rules import RULES
from stacks.platform import Settings
from stacks.releases import RELEASES


def configuration(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return the rules' configuration (`policies.configuration`) that holds them to the stack's release and machines.

    A rule with a parameter of a name that is known here gets the stack's value of it.
    """
    gpus = settings.profile.gpus
    named: dict[str, Any] = {
        "release": settings.release,
        "kubernetes": RELEASES[settings.release].kubernetes,
        "pool": settings.machine_config_pool,
        "gpus_per_node": gpus,
        "pods_per_node": gpus,
        "devices": {
            names.RDMA_PREFIX + resource: hca.name
            for resource, hca in zip(settings.rdma_resources, settings.profile.hcas, strict=True)
        },
    }
    derived: dict[str, dict[str, Any]] = {
        "gpu-limit": {"maximum": gpus},
        "scale-node-label": {"nodes": [node.name for node in settings.nodes if node.scale_client]},
    }
    return derived | {
        rule.name: {key: named[key] for key in rule.parameters.model_fields if key in named}
        | derived.get(rule.name, {})
        for rule in RULES
        if named.keys() & rule.parameters.model_fields.keys()
    }


def settled(settings: Settings, file: Path | None = None) -> dict[str, Any]:
    """Return the configuration of a stack with that of a file over it; raise Problem for a file with a fault in it."""
    try:
        return with_file(configuration(settings), file)
    except ConfigurationError as error:
        raise Problem(str(error), "Correct the file that --config names.") from None
