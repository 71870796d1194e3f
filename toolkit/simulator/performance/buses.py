"""PCI addresses of GPUs and adapters, by which nvidia-smi, lspci and nccl-tests name them."""

from core.hardware.profiles import Device, Profile

_FIRST = 0x1A
"""Where no document gives those of GPUs: one after the other from here."""
_FIRST_OF_ADAPTERS = 0xE0
"""Where no document gives those of adapters: one after the other from here, past those that are given."""
_BUSES = 0x100


def bus(profile: Profile, gpu: int) -> int:
    """Return the PCI bus of a GPU."""
    return profile.gpu_buses[gpu] if profile.gpu_buses else _FIRST + gpu


def address(profile: Profile, gpu: int) -> str:
    """Return the PCI address of a GPU as nvidia-smi prints it, 00000000:06:00.0."""
    return f"00000000:{bus(profile, gpu):02X}:00.0"


def of_device(profile: Profile, device: Device) -> str:
    """Return the PCI address of an adapter's port as lspci -D prints it, 0000:18:00.0.

    Of adapters that have none in the profile each is on a bus of its own, which is invented.
    """
    if device.pci:
        return device.pci
    taken = {int(hca.pci.split(":")[1], 16) for hca in profile.devices if hca.pci}
    taken |= {bus(profile, gpu) for gpu in range(profile.gpus)}
    free = [
        number for number in (*range(_FIRST_OF_ADAPTERS, _BUSES), *range(1, _FIRST_OF_ADAPTERS)) if number not in taken
    ]
    unknown = [hca.name for hca in profile.devices if not hca.pci]
    return f"0000:{free[unknown.index(device.name)]:02x}:00.0"
