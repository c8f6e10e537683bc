"""How often a layer uses which kernel of the workload library, and with which sizes."""

from __future__ import annotations

from dataclasses import dataclass

from ithaca.workloads.errors import InputError
from ithaca.workloads.library import workload
from ithaca.workloads.networks.network import Layer


@dataclass(frozen=True, slots=True)
class KernelUse:
    """A kernel of the library with its sizes.

    Attributes
    ----------
    kernel : str
        Name of the workload.
    sizes : tuple of (str, int)
        What `ithaca.workloads.library.workload` needs: extents, stride and dilation.
    count : int
        How many times the layer runs it.
    """

    kernel: str
    sizes: tuple[tuple[str, int], ...]
    count: int = 1

    def layer(self, name: str) -> Layer:
        """The layer of this name.

        Raises
        ------
        InputError
            If the library has no such kernel, the kernel no such sizes, or a loop has none: a
            network does not fall back on the extents a kernel happens to come with.
        """
        sizes = dict(self.sizes)
        try:
            nest = workload(self.kernel, sizes)
        except InputError as error:
            raise InputError(f"layer {name}: {error}") from None
        for loop in nest.loops:
            if loop not in sizes:
                raise InputError(f"layer {name}: size of loop '{loop}' is missing; allowed: sizes of {', '.join(nest.loops)}")
        return Layer(name, nest, self.count, (name,))
