"""The program: settings in, an environment out."""

import pulumi

from core.project import FOLDER, located
from stacks import cluster_identity, environment, platform_output
from stacks.checks import allowance

settings = environment.load()
cluster_identity.require(settings.cluster, FOLDER)
for warning in allowance.warnings(settings):
    pulumi.log.warn(located(warning))
accounts, checked = environment.accounts(settings), platform_output.platform(settings)
for name, value in environment.build(settings, accounts, FOLDER, checked).items():
    pulumi.export(name, value)
