"""The text of `Pulumi.NAME.yaml`, from the facts of a cluster or from an example, and what the rules say of it."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from core import project
from core.errors import UserError
from core.simulated import context_name
from core.wording import plural, some
from core.yaml import places as yaml_places
from policies import exceptions
from policies.check import configured_checker
from policies.manifests.inventory import Inventory
from policies.manifests.objects import objects
from policies.rule import Severity
from stacks.loading import settings as stack_settings
from stacks.loading.settings import KEY, PROJECT
from toolkit.cli.init import file_text
from toolkit.cli.init.composition import Composition
from toolkit.cli.init.decision import MARK, REVIEW, Decision, of_a_cluster, of_a_site
from toolkit.cli.init.examples import Example
from toolkit.cli.init.facts import Cluster
from toolkit.cli.shared.policy_configuration import configuration
from toolkit.render.manifests import manifests, platform_registrations, registrations

_SCHEMA = "yaml-language-server: $schema=docs/schemas/settings.json"
_MARKS = (
    f"Make the decisions marked {MARK}, and review the example's values marked {REVIEW}: docs/guide/first-stack.md "
    "explains how, and docs/reference/settings.md describes every field."
)
_PLACE = ("config", f"{PROJECT}:{KEY}")


def text_of(name: str, cluster: Cluster, context: str, example: str, composition: Composition) -> str:
    """Return the file of a stack on a cluster."""
    lines = [
        _SCHEMA,
        f"Written by `./hpc init {name}` from context {context}: {'; '.join(_seen(cluster))}.",
        f"What a cluster cannot report comes from stacks/examples/{example}.yaml.",
        _MARKS,
        *(f"Not read: {line}" for line in cluster.unread),
    ]
    return file_text.head(lines) + file_text.commented(
        file_text.dumped({_PLACE[0]: {_PLACE[1]: composition.settings}}), _comments(composition.decisions)
    )


def copied(example: Example, name: str) -> tuple[str, list[Decision]]:
    """Return an example as the file of a stack on a simulated cluster of its own, and what is to be decided in it."""
    own = {"kubeconfig": f".sim/{name}/kubeconfig", "context": context_name(name), "identifier": name}
    settings = example.own
    decisions = [*of_a_cluster(settings), *of_a_site(settings)]
    lines = [_SCHEMA, f"Written by `./hpc init {name} --template {example.name}`. {_MARKS}", ""]
    body = file_text.commented(_renamed(example.text, own), _comments(decisions))
    # The example's own line names the schema from its folder.
    kept = (line for line in body.splitlines(keepends=True) if not line.startswith(f"# {_SCHEMA.partition('$')[0]}"))
    located = (project.located(line) if line.lstrip().startswith("#") else line for line in kept)
    return file_text.head(lines) + "".join(located), decisions


def _seen(cluster: Cluster) -> Iterator[str]:
    simulated = " (simulated)" if cluster.simulated else ""
    yield f"OpenShift {cluster.version}{simulated}, {plural(len(cluster.nodes), 'node')}"
    if cluster.mtu:
        yield f"MTU of the pod network {cluster.mtu}"
    installed = [f"{subscription.package} in {subscription.namespace}" for subscription in cluster.subscriptions]
    yield f"subscribed operators: {some(installed)}" if installed else "no subscribed operators"
    if cluster.storage_classes:
        yield f"storage classes {some([storage_class.name for storage_class in cluster.storage_classes])}"


def _comments(decisions: Iterable[Decision]) -> Iterator[tuple[tuple[str | int, ...], str, tuple[str, ...]]]:
    for decision in decisions:
        yield (*_PLACE, *decision.path), f"{decision.mark}: {decision.text}", decision.options


def _renamed(content: str, values: dict[str, str]) -> str:
    """Return settings with other values of `cluster`; comments and form stay as they are."""
    node = yaml_places.value(yaml_places.composed(content), *_PLACE, "cluster")
    if node is None:  # of tenants alone, whose platform has the cluster
        return content
    changed = [(key.value, value) for key, value in node.value if key.value in values]
    for name, value in sorted(changed, key=lambda pair: pair[1].start_mark.index, reverse=True):
        content = content[: value.start_mark.index] + values[name] + content[value.end_mark.index :]
    return content


def faults(stack: str, root: Path) -> Iterator[str]:
    """Yield what is wrong with the settings of a stack or, where nothing is, what mandatory policies refuse."""
    try:
        declared_settings = stack_settings.load(stack, root)
        declared = manifests(registrations(stack, root))
        others = manifests(platform_registrations(stack, root))
    except UserError as error:
        yield from str(error).splitlines()
        return
    subjects = [obj for manifest in declared for obj in objects(manifest)]
    around = [obj for manifest in others for obj in objects(manifest)]
    checker = configured_checker(configuration(declared_settings))
    remain = exceptions.waive(
        checker.check(subjects, Inventory([*subjects, *around], complete=True)),
        exceptions.load(),
        datetime.now(UTC).date(),
    )
    yield from (str(finding) for finding in remain if finding.severity is Severity.MANDATORY)
