"""Documents that GitOps tools read: YAML whose long texts are blocks, and manifests without Pulumi's marks (pure)."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from core.apis import names
from toolkit.render.gitops.waves import Member
from toolkit.render.manifests import managed_by


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


def manifest(member: Member, manager: str, annotations: Mapping[str, str]) -> dict[str, Any]:
    """Return the manifest of an object with annotations of the tool that manages it."""
    whole = managed_by(manager, member.manifest)
    own = {key: value for key, value in whole["metadata"].get("annotations", {}).items() if _stays(member, key)}
    both = {**own, **annotations}
    metadata = {key: value for key, value in whole["metadata"].items() if key != "annotations"}
    return {**whole, "metadata": metadata | ({"annotations": both} if both else {})}


def _stays(member: Member, key: str) -> bool:
    """For an object with another owner, the manifest has only the field that the stack waited for."""
    return member.partial or key != names.AWAITED


def folder_of(number: int) -> str:
    """Return the folder of a wave's manifests."""
    return f"waves/{number:02}"


def dns_name(name: str) -> str:
    """Return a name as objects may have it."""
    return re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")
