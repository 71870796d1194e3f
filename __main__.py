"""The program: settings in, an environment out."""

import gc
from pathlib import Path

import pulumi

# All that is imported and declared is kept to the end: looking for garbage takes time and finds none (docs/scale.md).
gc.disable()

from stacks import cluster_identity, environment, layers  # noqa: E402
from stacks.checks import version  # noqa: E402

root = Path(__file__).parent
settings = environment.load()
cluster_identity.require(settings.cluster, root)
for warning in version.warnings(settings):
    pulumi.log.warn(warning)
accounts, checked = environment.accounts(settings), layers.platform(settings)
for name, value in environment.build(settings, accounts, root, checked).items():
    pulumi.export(name, value)
