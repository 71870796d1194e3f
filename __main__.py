"""The program: settings in, an environment out."""

from pathlib import Path

import pulumi

from stacks import cluster_identity, environment

root = Path(__file__).parent
settings = environment.load()
cluster_identity.require(settings.cluster, root)
for name, value in environment.build(settings, environment.accounts(settings), root).items():
    pulumi.export(name, value)
