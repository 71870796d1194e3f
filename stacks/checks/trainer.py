"""What is wrong between Kubeflow Trainer, the release and the operators that it needs."""

import re
from collections.abc import Iterator

from stacks.checks.unlisted import Unlisted
from stacks.releases import either
from stacks.settings.platform import Settings
from stacks.settings.trainer import UpstreamTrainer

PRODUCT = "Kubeflow Trainer"
"""As the files of releases call it."""
_TAG = re.compile(r":v?(?P<minor>\d+\.\d+)[^:/@]*(@.*)?$")


def problems(settings: Settings) -> Iterator[str]:
    """Yield what the controller could not run with."""
    trainer = settings.trainer
    if not isinstance(trainer, UpstreamTrainer):
        return
    if settings.operators.jobset is None:
        yield (
            "trainer: Kubeflow Trainer makes a JobSet of every TrainJob, and operators.jobset is missing; add "
            "`operators: {jobset: {}}`, or set `trainer: {kind: installed}` where the cluster has both"
        )


def unlisted(settings: Settings) -> Iterator[Unlisted]:
    """Yield a version that is not known for the release."""
    trainer = settings.trainer
    if not isinstance(trainer, UpstreamTrainer):
        return
    match = _TAG.search(trainer.image)
    versions = next((product.versions for product in settings.version.operators if product.name == PRODUCT), ())
    if match and versions and match["minor"] not in versions:
        reason = f"{PRODUCT} {match['minor']} is not known for OpenShift {settings.release}"
        yield Unlisted("trainer.image", trainer.image, reason, f"use {either(versions)}")
