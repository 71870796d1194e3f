"""Between nodes: whether their adapters have the same firmware."""

from collections.abc import Iterator, Sequence

from toolkit.evidence.criterion import Comparison, Found, lines_of, of, passed
from toolkit.evidence.tools.ibstat import IbStat
from toolkit.evidence.verdict import Job
from toolkit.evidence.wording import listed


def _same(jobs: Sequence[Job]) -> Iterator[tuple[str, Found]]:
    """Yield one verdict on all jobs that show their node's adapters, where there are two."""
    shown = {job.request.job: [(one.file, hca) for one in of(job, IbStat) for hca in one.adapters] for job in jobs}
    shown = {name: adapters for name, adapters in shown.items() if adapters}
    if len(shown) <= 1:
        return
    versions: dict[str, dict[str, str]] = {}
    for name, adapters in shown.items():
        for _, hca in adapters:
            versions.setdefault(hca.kind, {}).setdefault(hca.firmware, name)
    mixed = {kind: found for kind, found in versions.items() if len(found) > 1}
    measured = listed(
        f"{kind}: {listed(f'{version} ({name})' for version, name in sorted(found.items()))}"
        for kind, found in sorted(mixed.items())
    )
    every = [each for adapters in shown.values() for each in adapters]
    proofs = lines_of([each for each in every if each[1].kind in mixed] or every)
    yield listed(shown, 4), Found(passed(not mixed), measured or f"one of {listed(sorted(versions))}", proofs=proofs)


COMPARISONS: tuple[Comparison, ...] = (
    Comparison(
        name="same-firmware",
        title="The HCAs of all nodes have the same firmware, those of one kind",
        limit="one version of each CA type",
        unit="versions",
        applies="two or more jobs with ibstat output",
        source="N-3.5",
        look=_same,
    ),
)
