"""Install modes of operators."""

from tests.support.stack_settings import changed, expect_refusal


def test_an_operator_for_the_whole_cluster_is_not_confined() -> None:
    """Kueue's operator has no mode but AllNamespaces; without the setting it would watch its own namespace."""
    expect_refusal(
        changed("superpod-a100", queues__operator__own_namespace_only=True),
        "queues.operator.own_namespace_only: kueue-operator has no install mode but AllNamespaces: … set it to false",
    )
