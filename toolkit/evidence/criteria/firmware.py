"""Between nodes: whether their adapters have the same firmware."""

from collections.abc import Iterator, Sequence

from toolkit.evidence.criterion import Comparison, Outcome, passed, readings_of, row_proofs
from toolkit.evidence.tools.ibstat import IbStat
from toolkit.evidence.verdict import Job
from toolkit.evidence.wording import listed


def _same(jobs: Sequence[Job]) -> Iterator[tuple[str, Outcome]]:
    """Yield one verdict on all jobs that show their node's adapters, where there are two."""
    shown = {
        job.request.job: [(reading.file, hca) for reading in readings_of(job, IbStat) for hca in reading.adapters]
        for job in jobs
    }
    shown = {name: adapters for name, adapters in shown.items() if adapters}
    if len(shown) <= 1:
        return
    versions: dict[str, dict[str, str]] = {}
    for name, adapters in shown.items():
        for _, hca in adapters:
            versions.setdefault(hca.kind, {}).setdefault(hca.firmware, name)
    mixed = {kind: hosts_by_version for kind, hosts_by_version in versions.items() if len(hosts_by_version) > 1}
    measured = listed(
        f"{kind}: {listed(f'{version} ({name})' for version, name in sorted(hosts_by_version.items()))}"
        for kind, hosts_by_version in sorted(mixed.items())
    )
    every = [adapter for adapters in shown.values() for adapter in adapters]
    proofs = row_proofs([adapter for adapter in every if adapter[1].kind in mixed] or every)
    yield listed(shown, 4), Outcome(passed(not mixed), measured or f"one of {listed(sorted(versions))}", proofs=proofs)


COMPARISONS: tuple[Comparison, ...] = (
    Comparison(
        name="same-firmware",
        title="The HCAs of all nodes have the same firmware, those of one kind",
        limit="one version of each CA type",
        unit="versions",
        applies="two or more jobs with ibstat output",
        source="N-3.5",
        compare=_same,
    ),
)
