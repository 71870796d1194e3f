"""Outputs of tools in the form of each tool, which tests of several modules read."""

BOND = """\
Ethernet Channel Bonding Driver: v5.14.0-427.13.1.el9_4.x86_64

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer3+4 (1)
MII Status: up
MII Polling Interval (ms): 100
Up Delay (ms): 0
Down Delay (ms): 0
Peer Notification Delay (ms): 0

802.3ad info
LACP active: on
LACP rate: fast
Min links: 0
Aggregator selection policy (ad_select): stable
System priority: 65535
System MAC address: 0c:42:a1:11:22:33
Active Aggregator Info:
\tAggregator ID: 1
\tNumber of ports: 2
\tActor Key: 21
\tPartner Key: 15
\tPartner Mac Address: b8:ce:f6:01:02:03

Slave Interface: ens1f0np0
MII Status: up
Speed: 25000 Mbps
Duplex: full
Link Failure Count: 0
Permanent HW addr: 0c:42:a1:11:22:33
Slave queue ID: 0
Aggregator ID: 1
Actor Churn State: none
Partner Churn State: none
Actor Churned Count: 0
Partner Churned Count: 0
details actor lacp pdu:
    system priority: 65535
    system mac address: 0c:42:a1:11:22:33
    port key: 21
    port priority: 255
    port number: 1
    port state: 63
details partner lacp pdu:
    system priority: 32768
    system mac address: b8:ce:f6:01:02:03
    oper key: 15
    port priority: 32768
    port number: 17
    port state: 61

Slave Interface: ens1f1np1
MII Status: down
Speed: Unknown
Duplex: Unknown
Link Failure Count: 3
Permanent HW addr: 0c:42:a1:11:22:34
Slave queue ID: 0
Aggregator ID: 2
"""

# The sample vectorAdd, as printed.
VECTOR_ADD = """[Vector addition of 50000 elements]
Copy input data from the host memory to the CUDA device
CUDA kernel launch with 196 blocks of 256 threads
Copy output data from the CUDA device to the host memory
Test PASSED
Done
"""

# NVIDIA's device plugin, as printed.
DEVICE_PLUGIN = """2018/07/12 12:29:38 Loading NVML
2018/07/12 12:29:38 Fetching devices.
2018/07/12 12:29:38 Starting FS watcher.
2018/07/12 12:29:38 Starting OS watcher.
2018/07/12 12:29:38 Starting to serve on /var/lib/kubelet/device-plugins/nvidia.sock
2018/07/12 12:29:38 Registered device plugin with Kubelet
"""

IBSTAT = """CA 'mlx5_0'
\tCA type: MT4123
\tNumber of ports: 1
\tFirmware version: 20.31.1014
\tHardware version: 0
\tNode GUID: 0x0c42a10300112233
\tSystem image GUID: 0x0c42a10300112233
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 200
\t\tBase lid: 11
\t\tLMC: 0
\t\tSM lid: 9
\t\tCapability mask: 0x2651e848
\t\tPort GUID: 0x0c42a10300112233
\t\tLink layer: InfiniBand
"""

_AT = "(/workspace/mlperf_logger.py:40)"

_QUALITY = '{"epoch": 13, "value": {"BBOX": 0.3811, "SEGM": 0.3452}}'

MLPERF = f""":::MLPv0.5.0 maskrcnn 1559071000.000000000 {_AT} run_start
:::MLPv0.5.0 maskrcnn 1559071001.000000000 {_AT} eval_target: {{"BBOX": 0.377, "SEGM": 0.339}}
:::MLPv0.5.0 maskrcnn 1559084034.883194447 {_AT} eval_accuracy: {_QUALITY}
:::MLPv0.5.0 maskrcnn 1559084034.887276888 {_AT} run_stop: {{"success": true}}
:::MLPv0.5.0 maskrcnn 1559084034.887276888 {_AT} run_final
"""

MLXCONFIG = """
Device #1:
----------

Device type:    ConnectX6
Name:           MCX653105A-HDA_Ax
Device:         /dev/mst/mt4123_pciconf0

Configurations:                              Next Boot
         MEMIC_BAR_SIZE                      0
         NUM_OF_VFS                          16
{ats}         ROCE_NEXT_PROTOCOL                  254
         MASK_FUNC                           Array[0..7]
"""

LSCPU = """\
Architecture:                    x86_64
CPU op-mode(s):                  32-bit, 64-bit
Byte Order:                      Little Endian
CPU(s):                          80
On-line CPU(s) list:             0-79
Thread(s) per core:              2
Core(s) per socket:              20
Socket(s):                       2
NUMA node(s):                    2
Vendor ID:                       GenuineIntel
Model name:                      Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz
L1d cache:                       1.3 MiB
NUMA node0 CPU(s):               0-19,40-59
NUMA node1 CPU(s):               20-39,60-79
Vulnerability Meltdown:          Mitigation; PTI
Flags:                           fpu vme de pse tsc
"""

IP_LINK = """\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
3: eth0@if42: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1400 qdisc noqueue state UP group default
    link/ether 0a:58:0a:80:02:15 brd ff:ff:ff:ff:ff:ff link-netnsid 0
    inet 10.128.2.21/23 brd 10.128.3.255 scope global eth0
       valid_lft forever preferred_lft forever
4: net1: <BROADCAST,MULTICAST> mtu 9000 qdisc mq state DOWN group default qlen 1000
    link/ether 0c:42:a1:11:22:33 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 9978
"""

NVIDIA_SMI = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 580.119.02             Driver Version: 580.119.02     CUDA Version: 13.0     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA A800 80GB PCIe          On  |   00000000:01:00.0 Off |                   On |
| N/A   27C    P0             46W /  300W |       0MiB /  81920MiB |     N/A      Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA A800 80GB PCIe          Off |   00000000:81:00.0 Off |                    2 |
| ERR!  ERR! ERR!            N/A /  N/A   |     413MiB /  81920MiB |     37%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| MIG devices:                                                                            |
+------------------+----------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |              Shared Memory-Usage |        Vol|        Shared         |
|      ID  ID  Dev |                Shared BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |
|                  |                                  |        ECC|                       |
|==================+==================================+===========+=======================|
|  0    1   0   0  |              25MiB / 40192MiB    | 42      0 |  3   0    2    0    0 |
|                  |               0MiB /     0MiB    |           |                       |
+------------------+----------------------------------+-----------+-----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    1   N/A  N/A            4711      C   python3                                 404MiB |
|    1   N/A  N/A            4712      C   python3                                   N/A  |
+-----------------------------------------------------------------------------------------+
"""

TOPOLOGY = """\
\t\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m
GPU0\t X \tNV18\tPIX\tSYS\t0-47,96-143\t0\t\tN/A
GPU1\tNV18\t X \tSYS\tPXB\t48-95,144-191\t1\t\tN/A
NIC0\tPIX\tSYS\t X \tSYS\t\t\t\t
NIC1\tSYS\tPXB\tSYS\t X \t\t\t\t

Legend:

  X    = Self
  NV#  = Connection traversing a bonded set of # NVLinks

NIC Legend:

  NIC0: mlx5_0
  NIC1: mlx5_bond_0

"""
