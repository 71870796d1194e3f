"""The preview of an update, by which fields that it removes are named before it starts."""

from collections.abc import Mapping
from typing import Any

from toolkit.cli.diff import engine_reviews, presentation, removed_fields
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import print_warning
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.stack import Stack
from toolkit.review.sentences import bare

SKIPPED = ("--skip-preview",)


def show(stack: Stack, running: Engine, policies: Mapping[str, Any], cluster: Cluster) -> tuple[tuple[str, ...], int]:
    """Print which fields of users an update removes; return the engine's arguments, and the number of its operations.

    The engine has its own preview where a state has no resources yet, of which none can lose a field, and where an
    update is refused, since it prints why.
    """
    if engine_reviews.is_empty(stack):
        return (), 0
    review = engine_reviews.preview(stack, running, policies)
    if presentation.refused(review):
        return (), 0
    for sentence in removed_fields.cautions(review, cluster.find, cluster.dry_run):
        print_warning(bare(sentence))
    return SKIPPED, len(review.changed)
