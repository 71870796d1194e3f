"""Which entry of a RoCE port's addresses is a pod's own.

Every interface over a port appends its addresses to the port's one table, those of other pods too: the index differs
from pod to pod, and no setting can name it (multus-cni #1100, nccl #718, #890). NCCL finds it in a container from 2.26
on (nccl #1573), before that it takes one index for all ports of a process (nccl #890). So the pod itself searches for
the entry of version 2 with an IPv4 address of its own.
"""

from collections.abc import Iterable

NCCL = "NCCL_IB_GID_INDEX"

FIND = (
    "gid(){ for f in /sys/class/infiniband/$1/ports/1/gids/*;do n=${f##*/};"
    # Free entries, and those of other pods, cannot be read or are zero.
    "{ read -r g <$f&&read -r t <${f%/gids/*}/gid_attrs/types/$n;} 2>/dev/null||continue;"
    'case "$g $t" in 0000:0000:0000:0000:0000:ffff:*"RoCE v2");;*)continue;;esac;'
    "g=${g#*ffff:};h=${g%:*};g=${g#*:};"
    "a=$(printf %d.%d.%d.%d 0x${h%??} 0x${h#??} 0x${g%??} 0x${g#??});"
    "if grep -qwF $a /proc/net/fib_trie;then echo $n;return;fi;done;"
    'echo "no RoCE v2 address of this pod on $1" >&2;return 1;}'
)
"""A function of the shell: `gid mlx5_0` prints the index, or fails with the reason. Needs only grep."""


def port_index(hca: str) -> str:
    """Return commands that put a port's index into $index, or end the shell."""
    return f"{FIND};index=$(gid {hca})||exit 1"


def common_index(hcas: Iterable[str]) -> str:
    """Return commands that put the index that all these ports have into $index, and end the shell if one has none.

    Pods that join the networks of all ports have the same one as a rule. Where they do not, $index is empty, and NCCL
    of 2.26 or later finds each port's own.
    """
    differ = "the ports have different GID indexes: NCCL before 2.26 cannot use them together"
    return (
        f"{FIND};index=;for port in {' '.join(hcas)};do i=$(gid $port)||exit 1;"
        f'if [ "${{index:=$i}}" != "$i" ];then echo "{differ}" >&2;index=;break;fi;done'
    )
