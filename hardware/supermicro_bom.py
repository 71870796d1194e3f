"""The machines of the Supermicro reference (S-2.1, S-2.2). Figures are the document's, also where they differ."""

from hardware.bom import Adapter, Bom, Chassis, Cpus, Drives, Memory, Node

_6248 = Cpus(model="Intel Xeon 6248", part="P4X-CLX6248-SRF90", count=2, cores=20, stated_threads=80)
_SIOM = Adapter(part="AOC-MH25G-m2S2TM", count=1, ports={10: 2, 25: 2})


def _sfp(count: int) -> Adapter:
    return Adapter(part="AOC-S25G-m2S", count=count, ports={25: 2})


SUPERMICRO = Bom(
    nodes={
        "master": Node(
            server="SYS-2029BT-HNC1R",
            cpus=_6248,
            memory=Memory(part="MEM-DR432L-SL03-ER26", count=4, module_gib=32, mhz=2666, stated_gib=128),
            drives=(
                Drives(kind="SSD", part="HDS-12T2-SSDSC2KB480G7", count=2, drive_gb=480, stated_gb=480),
                Drives(kind="NVMe", part="HDS-IUN2-SSDPE2KE020T7", count=3, drive_gb=2000, stated_gb=6000),
            ),
            adapters=(_sfp(1), _SIOM),
        ),
        "infra": Node(
            cpus=_6248,
            memory=Memory(part="MEM-DR432L-SL03-ER26", count=16, module_gib=32, mhz=2666, stated_gib=512),
            drives=(Drives(kind="SSD", part="HDS-2TV-MZ7LM960HMJP005", count=4, drive_gb=960, stated_gb=1920),),
            adapters=(_sfp(1), _SIOM),
        ),
        "bastion": Node(
            server="1029-TRT",
            cpus=Cpus(model="Intel Xeon 5118", part="P4X-SKL5118-SR3GF", count=2, cores=12, stated_threads=48),
            memory=Memory(part="MEM-DR432L-SL02-ER26", count=4, module_gib=32, mhz=2666, stated_gib=128),
            drives=(Drives(kind="SSD", count=1, drive_gb=960, stated_gb=960),),
            adapters=(_sfp(2),),
        ),
        "gpu": Node(
            server="SYS-4029GP-TVRT",
            cpus=_6248,
            memory=Memory(part="MEM-DR432L-SL01-ER29", count=24, module_gib=32, mhz=2933, stated_gib=768),
            drives=(Drives(kind="SSD", part="SSDSC2KG038T8", count=1, drive_gb=3800, stated_gb=3800),),
            adapters=(_sfp(2),),
            gpus=8,
        ),
    },
    chassis=(
        Chassis(server="SYS-2029BT-HNC1R", quantity=2, nodes_each=4, roles={"master": 3, "infra": 3, "app": 2}),
        Chassis(server="SYS-1029U-E1CRT", quantity=1, roles={"bastion": 1}),
        Chassis(server="SYS-4029GP-TVRT", quantity=1, roles={"gpu": 1}),
    ),
    source="S-2.1, S-2.2",
)
