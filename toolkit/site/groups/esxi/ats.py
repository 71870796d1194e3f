"""A script for the shell of each ESXi host: the kernel's option for ATS, and what to read."""

from toolkit.site.output import File

PATH = "esxi/ats.sh"
FILE = File(
    PATH,
    """\
#!/bin/sh
# In the shell of each ESXi host:
#   ats.sh set    lets the kernel use address translation services from the next boot on
#   ats.sh show   prints what `./hpc verify -f` reads: TRUE twice after the boot, and NUMA nodes of GPUs and adapters
set -eu
case "${1-}" in
set)
    esxcli system settings kernel set -s atsSupport -v TRUE
    ;;
show)
    esxcli system settings kernel list -o atsSupport
    esxcli hardware pci list
    ;;
*)
    echo "usage: $0 set | show" >&2
    exit 2
    ;;
esac
""",
    sources=("N-2.1", "N-2.2", "N-4.1"),
    executable=True,
)
