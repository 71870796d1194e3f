"""The program: settings in, an environment out."""

from apis.garbage_collection import collect_never

collect_never()  # before anything else is imported

import pulumi  # noqa: E402

from apis.project import FOLDER, located  # noqa: E402
from stacks import cluster_identity, environment, layers  # noqa: E402
from stacks.checks import allowance  # noqa: E402

settings = environment.load()
cluster_identity.require(settings.cluster, FOLDER)
for warning in allowance.warnings(settings):
    pulumi.log.warn(located(warning))
accounts, checked = environment.accounts(settings), layers.platform(settings)
for name, value in environment.build(settings, accounts, FOLDER, checked).items():
    pulumi.export(name, value)
