"""The recommended labels, which every object of the stack carries."""

PART_OF = "hpc"
MANAGED_BY = "app.kubernetes.io/managed-by"


def labels(name: str, component: str) -> dict[str, str]:
    """Return the app.kubernetes.io labels of an object that belongs to `name`, in the part called `component`."""
    return {
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/component": component,
        "app.kubernetes.io/part-of": PART_OF,
        MANAGED_BY: "pulumi",
    }
