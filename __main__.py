"""The program: settings in, an environment out."""

from pathlib import Path

import pulumi

from stacks import cluster_identity, environment, layers

root = Path(__file__).parent
settings = environment.load()
cluster_identity.require(settings.cluster, root)
accounts, checked = environment.accounts(settings), layers.platform(settings)
for name, value in environment.build(settings, accounts, root, checked).items():
    pulumi.export(name, value)
