"""The loop that runs networks, as machine code that is kept.

Numba takes a second to load even what it compiled before. So what it makes is kept in the user's
cache, under the user's seal, by the sources and the processor it was made for, and the next process
gives it to LLVM alone. Where nothing is kept, numba runs it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ithaca.files.caches import cache_folder, keep_bytes, recalled_bytes
from ithaca.files.extras import check_installed
from ithaca.formulations.algebra.array_types import Integers

if TYPE_CHECKING:
    from llvmlite import binding

#: An argument of the loop: an array of 64-bit integers, or one of them.
Argument: TypeAlias = Integers | int

#: What runs a slice of a run, and returns how that ended.
Kernel: TypeAlias = Callable[..., int]

#: The modules whose code is compiled, beside this one.
SOURCES = ("kernel", "periods", "program", "state")

#: Dimensions of the arguments of the loop, 0 of a number.
DIMENSIONS = (
    *(2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0),  # the program
    *(2, 3, 2, 2, 1, 2, 2, 1, 2, 1),  # the state
    *(1, 1, 1, 1, 1, 1, 1),  # scratch, and work that the tally does not hold yet
    *(2, 1, 1, 2, 3, 2),  # states before
    *(0, 0, 2, 0, 0, 0),  # what is kept, the tally, and how far to run
)

#: What numba's code calls when the last owner of an array lets it go: these have none.
_NO_OWNER = "define void @NRT_MemInfo_call_dtor(ptr) {\n  ret void\n}"


@lru_cache(maxsize=1)
def kernel() -> Kernel:
    """The loop that runs networks (`ithaca.plugins.rtl.formulations.kernel.run_slice`)."""
    check_installed("numba")
    folder = cache_folder()
    if folder is not None and (code := _kept(Path(folder, "simulator"))) is not None:
        return code
    from ithaca.plugins.rtl.formulations.kernel import run_slice

    run: Kernel = run_slice
    return run


def _kept(folder: Path) -> Kernel | None:
    """The loop from a folder, compiled anew if it is not there; None where it cannot be had by
    itself."""
    path = Path(folder, _key())
    content = recalled_bytes(path)
    if content is None:
        if (content := _compiled()) is None:
            return None
        keep_bytes(path, content)
    name, _, machine_code = content.partition(b"\n")
    return _loaded(name.decode(), machine_code)


def _key() -> str:
    """The name of the file: a hash of all that the machine code follows from."""
    from llvmlite import binding

    digest = sha256()
    for name in (*SOURCES, Path(__file__).stem):
        digest.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    made_by = [version(package) for package in ("numba", "llvmlite")]
    processor = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    digest.update(repr((made_by, binding.get_default_triple(), processor)).encode())
    return digest.hexdigest()[:40]


def _compiled() -> bytes | None:
    """The name of the function and its object code; None where it calls others, or numba compiles
    nothing."""
    from llvmlite import binding
    from numba import njit, types

    from ithaca.plugins.rtl.formulations.kernel import run_slice

    plain = getattr(run_slice, "py_func", None)
    if plain is None:
        return None
    options: dict[str, Any] = dict.fromkeys(("no_cpython_wrapper", "no_cfunc_wrapper"), True)
    signature = tuple(types.Array(types.int64, n, "C") if n else types.int64 for n in DIMENSIONS)
    function = njit(error_model="numpy", **options)(plain)
    function.compile(signature)
    module = binding.parse_assembly(function.inspect_llvm(function.signatures[0]))
    module.link_in(binding.parse_assembly(_NO_OWNER))
    return None if (name := _alone(module)) is None else _object_code(name, module)


def _alone(module: binding.ModuleRef) -> str | None:
    """The name of the function of a module that runs by itself, with the arguments that are given
    to it; None if there is no such."""
    if any(f.is_declaration and not f.name.startswith("llvm.") for f in module.functions):
        return None
    names = [
        f.name
        for f in module.functions
        if not f.is_declaration and [str(a.type) for a in f.arguments] == ["ptr", "ptr", *_types()]
    ]
    return names[0] if len(names) == 1 else None


def _types() -> Iterator[str]:
    """The types of the arguments: numba hands over an array as its owners, none here, the numbers
    and bytes of its elements, their place, and its shape and strides."""
    for dimensions in DIMENSIONS:
        if dimensions:
            yield from ("ptr", "ptr", "i64", "i64", "ptr")
        yield from ["i64"] * (2 * dimensions or 1)


def _flat(arguments: Sequence[Argument]) -> Iterator[int]:
    """The arguments in the order of `_types`; machine code would not notice others."""
    for argument, dimensions in zip(arguments, DIMENSIONS, strict=True):
        if isinstance(argument, np.ndarray):
            assert argument.flags.c_contiguous
            assert argument.dtype == np.int64
            assert argument.ndim == dimensions
            place = argument.__array_interface__["data"][0]
            yield from (0, 0, argument.size, argument.itemsize, place)
            yield from (*argument.shape, *argument.strides)
        else:
            assert not dimensions
            yield argument


def _object_code(name: str, module: binding.ModuleRef) -> bytes:
    """A name and a module's object code, as they are kept."""
    code: bytes = _target().emit_object(module)
    return name.encode() + b"\n" + code


def _target() -> binding.TargetMachine:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=3,
        jit=True,
    )


def _loaded(name: str, machine_code: bytes) -> Kernel:
    """A function of kept machine code."""
    from llvmlite import binding

    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target())
    engine.add_object_file(binding.ObjectFileRef.from_data(machine_code))
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_int64] * (2 + sum(1 for _ in _types())))
    function = kind(engine.get_function_address(name))
    result, error = ctypes.c_int64(), ctypes.c_void_p()

    def run(*arguments: Argument) -> int:
        assert engine is not None  # it owns the code
        failed = function(ctypes.addressof(result), ctypes.addressof(error), *_flat(arguments))
        assert not failed  # it raises nothing
        return result.value

    return run
