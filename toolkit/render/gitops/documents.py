"""Documents that GitOps tools read, and the page beside them (pure).

YAML has long texts as blocks, and manifests are without Pulumi's marks. The page has how to begin, the waves in words,
the Secrets, and what differs from Pulumi.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import yaml

from core.apis import names
from toolkit.render.gitops.health import in_words
from toolkit.render.gitops.waves import Member, SecretReference, Waves
from toolkit.render.manifests import managed_by

_NAMED = 6
"""Objects of a kind that a page names; of more it has the first, the last and their number."""
_ARGOCD = """\
## Begin

1. Let Argo CD apply what the platform consists of: its controller needs the rights of a cluster administrator.
2. Teach it when these objects are healthy; without this it does not wait for them. The rules are for all objects of
   their kinds that this Argo CD manages. Do it again whenever the file has changed.
   With OpenShift GitOps, merge `spec.resourceHealthChecks` of [health/argocd.yaml](health/argocd.yaml) into your ArgoCD
   object, whose list a merge patch replaces as a whole:
   `oc patch argocd openshift-gitops -n openshift-gitops --type merge --patch-file health/argocd.yaml`.
   Otherwise `kubectl apply --server-side --field-manager hpc -f health/argocd-cm.yaml`, which leaves other keys alone.
3. Create the namespaces and Secrets [below](#secrets).
4. Commit this folder. Check repository, branch and path in [application.yaml](application.yaml), apply it, and sync.
   Nothing is synced by itself: add `automated` to its `syncPolicy` once you trust it.

## Jobs

A finished job stays as it is. A Job whose manifest changes is deleted and created again (`Force=true`; never add
`Replace=true`, which runs all jobs at every sync). MPIJobs and TrainJobs change in place, which runs nothing; one with
`on_change: keep` does not change at all. To run a job again, delete it and sync; `run` in the settings has no effect.
Leave `ApplyOutOfSyncOnly` off: with it, a sync does not wait for objects that an earlier one has applied.
"""
_FLUX = """\
## Begin

1. Flux 2.5 or later must be installed, with the rights of a cluster administrator, and with a GitRepository of the name
   in `sourceRef` in namespace flux-system.
2. Create the namespaces and Secrets [below](#secrets).
3. Commit this folder, at the path that the files of `kustomizations` name, and apply them:
   `kubectl apply -k .`, or list this folder among the resources of your cluster's own kustomization.yaml.

Flux waits for what the program waits for, by `healthChecks`; `wait: true` would wait for all objects, also for
claims that only a pod binds and for nodes that are down.

## Jobs

A finished job stays as it is. A Job whose manifest changes is deleted and created again. MPIJobs and TrainJobs change
in place, which runs nothing; one with `on_change: keep` does not change at all. To run a job again, delete it: Flux
creates it at its next reconciliation (`flux reconcile kustomization NAME`); `run` in the settings has no effect. Flux
does not wait for a Job that the program only wants started.
"""
_DIFFERENCES = """\
## What Pulumi does that this does not

- **Order.** A wave begins when all objects of the one before are healthy. Pulumi starts each object as soon as those
  that it depends on are ready, so it is faster, and a slow object holds up fewer others.
- **Versions of operators.** Pulumi waits until OLM's ClusterServiceVersion is Succeeded. Its name is known only once
  OLM has chosen it, so no file can name it: here a wave goes on when OLM has installed the head of the channel, and
  objects that the operator does not accept yet are retried. With `approval: Manual` a user approves the InstallPlan.
- **Failures.** `./hpc up` ends within a minute, with the cause and the last lines of a pod's log. Here a wave waits for
  its timeout, and a failed job stops its wave, without its log.
- **Identity of the cluster.** Pulumi refuses a cluster other than the one that it began with. Here the files go
  wherever they are applied.
- **Policies** are checked by `./hpc check -f waves --stack STACK` in CI, not at every apply.
- **Deletion.** What the stack protects is never pruned. Labels of nodes stay when their file is removed.
- **Review.** There is no plan to approve: `./hpc diff --base COMMIT` shows what a change of the settings means.
"""


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and every value in place, without aliases."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the signature is PyYAML's
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)


def text(document: Mapping[str, Any]) -> str:
    """Return a document as YAML."""
    return yaml.dump(dict(document), Dumper=_Dumper, width=120)


def annotated_manifest(member: Member, manager: str, annotations: Mapping[str, str]) -> dict[str, Any]:
    """Return the manifest of an object with annotations of the tool that manages it."""
    whole = managed_by(manager, member.manifest)
    own = whole["metadata"].get("annotations", {})
    # For an object with another owner, the manifest has only the field that the stack waited for.
    kept = {key: value for key, value in own.items() if member.partial or key != names.AWAITED}
    both = {**kept, **annotations}
    metadata = {key: value for key, value in whole["metadata"].items() if key != "annotations"}
    return {**whole, "metadata": metadata | ({"annotations": both} if both else {})}


def folder_of(number: int) -> str:
    """Return the folder of a wave's manifests."""
    return f"waves/{number:02}"


def dns_name(name: str) -> str:
    """Return a name as objects may have it."""
    return re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")


def argocd_page(waves: Waves, stack: str) -> str:
    """Return the page for Argo CD."""
    return _page(f"Stack {stack} for Argo CD", _ARGOCD, waves)


def flux_page(waves: Waves, stack: str) -> str:
    """Return the page for Flux."""
    return _page(f"Stack {stack} for Flux", _FLUX, waves)


def _page(title: str, begin: str, waves: Waves) -> str:
    intro = "Written by `./hpc render`, which replaces all files here: change the stack's settings, not these files."
    parts = [f"# {title}\n\n{intro}\n", begin, _secrets(waves.secrets), _DIFFERENCES, "\n".join(_waves(waves)) + "\n"]
    return "\n".join(parts)


def _secrets(secrets: Sequence[SecretReference]) -> str:
    if not secrets:
        return "## Secrets\n\nThe stack needs none.\n"
    lines = [
        "## Secrets",
        "",
        "No file has a secret value. These Secrets must exist, from whatever you keep secrets in, before the wave that",
        "uses them; create their namespaces first, with the files of `waves`.",
        "",
        "| namespace | name | type | keys | used from wave |",
        "|---|---|---|---|---|",
    ]
    for secret in secrets:
        wave = "" if secret.needed is None else str(secret.needed)
        keys = ", ".join(f"`{key}`" for key in secret.keys)
        lines.append(f"| {secret.namespace} | {secret.name} | {secret.type} | {keys} | {wave} |")
    return "\n".join(lines) + "\n"


def _waves(waves: Waves) -> Iterator[str]:
    yield "## Waves"
    for number, members in enumerate(waves.members):
        yield from ("", f"### Wave {number} ([files]({folder_of(number)}))", "")
        for (kind, waits), similar in groupby(sorted(members, key=_kind_and_waits), _kind_and_waits):
            until = " and ".join(map(in_words, waits))
            yield f"- {kind} {_names([*similar])}" + (f": until {until}" if until else "")


def _kind_and_waits(member: Member) -> tuple[str, tuple[str, ...]]:
    return member.manifest["kind"], member.waits


def _names(members: Sequence[Member]) -> str:
    names = ["/".join(part for part in member.identity[1:] if part) for member in members]
    return ", ".join(names) if len(names) <= _NAMED else f"{names[0]} to {names[-1]} ({len(names)})"
