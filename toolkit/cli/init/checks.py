"""What the settings' own rules and the policies say of a stack, before anything is updated."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from core.errors import UserError
from policies import exceptions
from policies.check import configured_checker
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import objects
from stacks.loading import settings as stack_settings
from toolkit.cli.shared.policy_configuration import configuration
from toolkit.render.manifests import manifests, platform_registrations, registrations


def faults(stack: str, root: Path) -> Iterator[str]:
    """Yield what is wrong with the settings of a stack or, where nothing is, what mandatory policies refuse."""
    try:
        declared_settings = stack_settings.load(stack, root)
        declared = manifests(registrations(stack, root))
        others = manifests(platform_registrations(stack, root))
    except UserError as error:
        yield from str(error).splitlines()
        return
    subjects = [obj for manifest in declared for obj in objects(manifest)]
    around = [obj for manifest in others for obj in objects(manifest)]
    checker = configured_checker(configuration(declared_settings))
    remain = exceptions.waive(
        checker.check(subjects, Inventory([*subjects, *around], complete=True)),
        exceptions.load(),
        datetime.now(UTC).date(),
    )
    yield from (str(finding) for finding in remain if finding.severity is Severity.MANDATORY)
