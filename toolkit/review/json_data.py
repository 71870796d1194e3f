"""A review as JSON data, for programs: what changes, without what stays as it is."""

from dataclasses import asdict
from typing import Any

from toolkit.review.model import Change, Resource, Review
from toolkit.review.sentences import bare, path

VERSION = 1
"""Of the form; it rises when a field changes its meaning or goes."""


def of(review: Review) -> dict[str, Any]:
    """Return the review as plain data; the same review gives the same data, and no secret is in it."""
    return {
        "version": VERSION,
        "stack": review.stack,
        "drift": review.drift,
        "failed": review.failed,
        "clusterAsked": review.cluster_queried,
        "unanswered": review.unanswered,
        "cautions": [bare(caution) for caution in review.cautions],
        "hazards": [bare(hazard) for hazard in review.hazards],
        "beingDeleted": [asdict(resource) | {"finalizers": list(resource.finalizers)} for resource in review.ending],
        "leftovers": [{"kind": resource.kind, "path": path(resource)} for resource in review.leftovers],
        "compared": list(review.compared) if any(review.compared) else [],
        "changes": [_change(change) for change in review.changed],
        "repairs": [_change(change) for change in review.repairs],
        "kept": [{"urn": change.resource.urn, "paths": list(change.kept)} for change in review.changes if change.kept],
        "unchanged": len(review.changes) - len(review.changed),
        "findings": [asdict(finding) for finding in review.findings],
        "warnings": list(review.warnings),
    }


def _change(change: Change) -> dict[str, Any]:
    resource = change.resource
    return {
        "op": str(change.op),
        "urn": resource.urn,
        "type": resource.type,
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "namespace": resource.namespace,
        "name": resource.object_name,
        "protected": resource.protect,
        "replacedFor": list(change.replaced_for),
        "before": _inputs(change.before),
        "after": _inputs(change.after),
    }


def _inputs(resource: Resource | None) -> dict[str, Any] | None:
    return dict(resource.inputs) if resource else None
