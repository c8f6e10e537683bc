"""A machine that runs straight-line programs on arrays, in machine code made by LLVM.

NumPy runs a program of a thousand operations at one array access per operation, and each call costs
a microsecond; here one call runs all operations on a few entries at a time, whose intermediate
results stay in the first cache. Operations are those of NumPy on doubles, one after the other: the
results are the same.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats

#: Entries that are worked on at once: whole vectors, and intermediate results stay in the cache.
LANES, BLOCK = 8, 128

#: The numbers of the operations.
OPERATIONS = {
    name: number
    for number, name in enumerate(
        ("load", "add", "multiply", "divide", "maximum", "minimum", "ceil", "store")
    )
}


#: A step: an operation, the register that it writes, and those of its operands; of a load the
#: source, of a store the number of the output and the register.
Instruction: TypeAlias = tuple[int, int, int, int]


def instruction(operation: str, result: int, first: int, second: int = 0) -> Instruction:
    """A step of a program.

    Parameters
    ----------
    operation : str
        The name of the operation.
    result : int
        The register, or output, that it writes.
    first, second : int
        The registers of its operands; of a load the source.
    """
    return OPERATIONS[operation], result, first, second


@dataclass(frozen=True)
class Placed:
    """The values of sources, where they are found."""

    places: NDArray[np.int64]
    """For each source the axis whose nodes have its values, and the address of these."""
    _owners: Any
    """The arrays."""


def placed(sources: Sequence[tuple[int, Floats]]) -> Placed:
    """Find the values of sources, given for each as the number of an axis and an array of what its
    nodes have."""
    own = [np.ascontiguousarray(values, np.float64) for _, values in sources]
    places = [(axis, address(values)) for (axis, _), values in zip(sources, own, strict=True)]
    return Placed(np.array(places, np.int64), own)


@dataclass(frozen=True)
class Machine:
    """Machine code that runs any program."""

    _run: Callable[..., None]
    _engine: Any
    """The owner of the code."""

    def run(
        self,
        code: NDArray[np.int32],
        constants: Floats,
        registers: int,
        sources: Placed,
        nodes: NDArray[np.signedinteger],
        outputs: int,
    ) -> Floats:
        """Run a program on all entries.

        Parameters
        ----------
        code : NDArray[np.int32]
            The steps (`Instruction`), shape (steps, 4).
        constants : Floats
            The first registers, which are not written, shape (constants, `LANES`).
        registers : int
            How many registers there are beside these.
        sources : Placed
            The values of the sources.
        nodes : NDArray[np.signedinteger]
            Nodes of each axis, shape (axes, entries).
        outputs : int
            How many arrays are stored.

        Returns
        -------
        Floats
            The outputs, shape (outputs, entries).
        """
        axes, entries = nodes.shape
        length = min(BLOCK, -(-entries // LANES) * LANES)
        whole = -(-entries // length) * length
        padded = np.zeros((axes, whole), np.int32)
        padded[:, :entries] = nodes
        stored, work = np.empty((outputs, whole)), np.empty((registers, BLOCK))
        arrays: list[NDArray[Any]] = [code, constants, work, sources.places, padded, stored]
        counts = (whole, length, len(constants), len(code))
        self._run(*counts, *map(address, arrays))
        return stored[:, :entries]


def address(values: NDArray[Any]) -> int:
    """The address of an array's values. That of a buffer is known four times as soon as NumPy's."""
    if values.flags.writeable and values.size:
        return ctypes.addressof(ctypes.c_char.from_buffer(values.data))
    return int(values.__array_interface__["data"][0])


def this_processor(level: int) -> Any:
    """LLVM's target that is this processor, for which it optimises at a level up to 3."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=level,
        jit=True,
    )


@lru_cache(maxsize=1)
def machine() -> Machine | None:
    """The machine; None where LLVM is not installed."""
    try:
        from llvmlite import binding
    except ImportError:
        return None
    target = this_processor(2)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(_assembly()), target)
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 10)
    return Machine(kind(engine.get_function_address("run")), engine)


#: What computes ``%z`` of the vectors ``%x`` and ``%y`` for each operation. As in NumPy, extremes
#: are no number where one of both is none.
_VECTORS = {
    "add": "%z = fadd V %x, %y",
    "multiply": "%z = fmul V %x, %y",
    "divide": "%z = fdiv V %x, %y",
    "maximum": """%more = fcmp oge V %x, %y
  %none = fcmp uno V %x, %x
  %first = or M %more, %none
  %z = select M %first, V %x, V %y""",
    "minimum": """%less = fcmp ole V %x, %y
  %none = fcmp uno V %x, %x
  %first = or M %less, %none
  %z = select M %first, V %x, V %y""",
    "ceil": "%z = call V @llvm.ceil.vNf64(V %x)",
    "store": "%z = fsub V %x, zeroinitializer",
}

#: Loops over a block: of an operation on vectors, and of loads, which follow the nodes.
_LOOP = """
define internal void @NAME(ptr %zs, ptr %xs, ptr %ys, i64 %x.step, i64 %y.step, i64 %length) {
entry:
  br label %loop
loop:
  %e = phi i64 [0, %entry], [%after, %loop]
  %x.e = phi i64 [0, %entry], [%x.after, %loop]
  %y.e = phi i64 [0, %entry], [%y.after, %loop]
  BODY
  %x.after = add i64 %x.e, %x.step
  %y.after = add i64 %y.e, %y.step
  %after = add i64 %e, STEP
  %more.entries = icmp slt i64 %after, %length
  br i1 %more.entries, label %loop, label %end
end:
  ret void
}
"""
_ON_VECTORS = """%x.at = getelementptr double, ptr %xs, i64 %x.e
  %y.at = getelementptr double, ptr %ys, i64 %y.e
  %z.at = getelementptr double, ptr %zs, i64 %e
  %x = load V, ptr %x.at, align 8
  %y = load V, ptr %y.at, align 8
  OPERATION
  store V %z, ptr %z.at, align 8"""
_ON_NODES = """%node.at = getelementptr i32, ptr %xs, i64 %e
  %node = load i32, ptr %node.at
  %place = sext i32 %node to i64
  %value.at = getelementptr double, ptr %ys, i64 %place
  %value = load double, ptr %value.at
  %z.at = getelementptr double, ptr %zs, i64 %e
  store double %value, ptr %z.at"""

#: All steps for each block of entries.
_RUN = """
declare V @llvm.ceil.vNf64(V)
define void @run(i64 %entries, i64 %length, i64 %fixed, i64 %steps, ptr %code, ptr %constants,
                 ptr %work, ptr %sources, ptr %nodes, ptr %stored) {
entry:
  br label %block
block:
  %begin = phi i64 [0, %entry], [%begin.next, %next]
  %more.blocks = icmp slt i64 %begin, %entries
  br i1 %more.blocks, label %step, label %end
step:
  %s = phi i64 [0, %block], [%s.next, %done]
  %more.steps = icmp slt i64 %s, %steps
  br i1 %more.steps, label %decode, label %next
decode:
  %at = getelementptr [4 x i32], ptr %code, i64 %s
  %operation = load i32, ptr %at
  %at.1 = getelementptr i32, ptr %at, i64 1
  %at.2 = getelementptr i32, ptr %at, i64 2
  %at.3 = getelementptr i32, ptr %at, i64 3
  %short.1 = load i32, ptr %at.1
  %short.2 = load i32, ptr %at.2
  %short.3 = load i32, ptr %at.3
  %z = sext i32 %short.1 to i64
  %x = sext i32 %short.2 to i64
  %y = sext i32 %short.3 to i64
  %z.own = sub i64 %z, %fixed
  %zs = getelementptr [BLOCK x double], ptr %work, i64 %z.own
  %x.fixed = getelementptr [LANES x double], ptr %constants, i64 %x
  %x.own = sub i64 %x, %fixed
  %x.varies = getelementptr [BLOCK x double], ptr %work, i64 %x.own
  %x.is = icmp slt i64 %x, %fixed
  %xs = select i1 %x.is, ptr %x.fixed, ptr %x.varies
  %x.step = select i1 %x.is, i64 0, i64 LANES
  %y.fixed = getelementptr [LANES x double], ptr %constants, i64 %y
  %y.own = sub i64 %y, %fixed
  %y.varies = getelementptr [BLOCK x double], ptr %work, i64 %y.own
  %y.is = icmp slt i64 %y, %fixed
  %ys = select i1 %y.is, ptr %y.fixed, ptr %y.varies
  %y.step = select i1 %y.is, i64 0, i64 LANES
  switch i32 %operation, label %done [CASES]
CALLS
case.load:
  %axis.at = getelementptr [2 x i64], ptr %sources, i64 %x
  %axis = load i64, ptr %axis.at
  %row = mul i64 %axis, %entries
  %first = add i64 %row, %begin
  %own = getelementptr i32, ptr %nodes, i64 %first
  %source.at = getelementptr ptr, ptr %axis.at, i64 1
  %source = load ptr, ptr %source.at
  call void @load(ptr %zs, ptr %own, ptr %source, i64 1, i64 1, i64 %length)
  br label %done
case.store:
  %line = mul i64 %z, %entries
  %first.out = add i64 %line, %begin
  %out = getelementptr double, ptr %stored, i64 %first.out
  call void @store(ptr %out, ptr %xs, ptr %xs, i64 %x.step, i64 %x.step, i64 %length)
  br label %done
done:
  %s.next = add i64 %s, 1
  br label %step
next:
  %begin.next = add i64 %begin, %length
  br label %block
end:
  ret void
}
"""


def _assembly() -> str:
    """The machine in LLVM's language: for each block of entries each step, a loop of vectors."""
    loops = {
        name: (_ON_VECTORS.replace("OPERATION", operation), LANES)
        for name, operation in _VECTORS.items()
    } | {"load": (_ON_NODES, 1)}
    text = "".join(
        _LOOP.replace("NAME", name).replace("BODY", body).replace("STEP", str(step))
        for name, (body, step) in loops.items()
    )
    cases = " ".join(f"i32 {number}, label %case.{name}" for name, number in OPERATIONS.items())
    operands = "ptr %zs, ptr %xs, ptr %ys, i64 %x.step, i64 %y.step, i64 %length"
    calls = "".join(
        f"case.{name}:\n  call void @{name}({operands})\n  br label %done\n"
        for name in _VECTORS
        if name != "store"
    )
    text += _RUN.replace("CASES", cases).replace("CALLS", calls)
    for word, meaning in (
        ("BLOCK", str(BLOCK)),
        ("LANES", str(LANES)),
        (" V ", f" <{LANES} x double> "),
        ("(V", f"(<{LANES} x double>"),
        (" V,", f" <{LANES} x double>,"),
        (" M ", f" <{LANES} x i1> "),
        ("vN", f"v{LANES}"),
    ):
        text = text.replace(word, meaning)
    return text
