"""An environment: all layers, in the order of installation."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
from pydantic import TypeAdapter, ValidationError

from components.outcome import ReadLog
from components.scale_csi import GuiAccount
from stacks import host, operators, rdma, settings, storage, tenants, workloads
from stacks.settings import PROJECT, Settings, SettingsError

SECRET_KEY = "scaleGui"  # noqa: S105 - the name of a key, not a secret
_ACCOUNTS = TypeAdapter(dict[str, GuiAccount])


def load() -> Settings:
    """Return the settings of the stack that the engine runs."""
    config = pulumi.Config(PROJECT)
    return settings.parse(config.get_object(settings.KEY), f"Pulumi.{pulumi.get_stack()}.yaml")


def accounts(environment: Settings) -> pulumi.Output[dict[str, GuiAccount]]:
    """Return the GUI accounts of all Spectrum Scale clusters from the stack's secrets."""
    wanted = [cluster.secret for cluster in environment.storage.clusters]
    secret = pulumi.Config(PROJECT).get_secret(SECRET_KEY)
    if secret is None:
        raise SettingsError(_missing(wanted))

    def check(text: str) -> dict[str, GuiAccount]:
        try:
            known = _ACCOUNTS.validate_json(text)
        except ValidationError:
            # The error itself would show the values.
            known = {}
        if missing := [name for name in wanted if name not in known]:
            raise SettingsError(_missing(missing))
        return known

    return secret.apply(check)


def _missing(names: list[str]) -> str:
    example = f"pulumi config set --secret --path '{PROJECT}:{SECRET_KEY}.{names[0]}.password'"
    return (
        f"{PROJECT}:{SECRET_KEY} has no username and password for {', '.join(names)}; "
        f"set each with e.g. `{example}` and the same for `.username`"
    )


def provider(environment: Settings, root: Path) -> k8s.Provider:
    """Return the one provider of the stack; it names its cluster, whatever the current context is."""
    cluster = environment.cluster
    return k8s.Provider(
        "cluster",
        kubeconfig=str(root / cluster.kubeconfig),
        context=cluster.context,
        cluster_identifier=cluster.identifier,
        enable_secret_mutable=True,
        enable_config_map_mutable=True,
        # What we declare is ours: a change by hand is repaired by the next update, not reported as a conflict.
        enable_patch_force=True,
    )


def _reader(environment: Settings, root: Path) -> ReadLog:
    def read(namespace: str, job: str) -> str:
        # The client takes half a second to import, and only a failed job needs it.
        from stacks import failed_jobs  # noqa: PLC0415

        cluster = environment.cluster
        return failed_jobs.last_words(root / cluster.kubeconfig, cluster.context, namespace, job)

    return read


def build(environment: Settings, gui_accounts: pulumi.Output[dict[str, GuiAccount]], root: Path) -> Mapping[str, Any]:
    """Declare the whole environment and return the stack's outputs: names only, since job states are read live."""
    opts = pulumi.ResourceOptions(provider=provider(environment, root))
    memlock = host.build(environment, opts)
    provided = operators.build(environment, opts)
    devices = rdma.build(environment, opts)
    teams = tenants.build(environment, opts)
    namespaces = {name: team.namespace for name, team in teams.items()}
    stored = storage.build(environment, gui_accounts, namespaces, opts)
    ready = [devices, memlock, *provided, *stored, *(team.ready for team in teams.values())]
    jobs = workloads.build(environment, ready, _reader(environment, root), opts)
    return {
        "release": environment.release,
        "nodes": [node.name for node in environment.gpu_nodes],
        "tenants": list(teams),
        "rdmaResources": devices,
        "jobs": jobs,
    }
