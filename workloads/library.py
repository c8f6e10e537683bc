"""The workloads that come with Ithaca: one kernel file each, in the folder ``kernels``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from os import PathLike
from pathlib import Path
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.files.reading import packaged_names
from ithaca.files.registry import Registry
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import is_statement

#: Endings of kernel files.
PATH_ENDINGS = (".yaml", ".yml")

_PACKAGE = "ithaca.workloads.kernels"


@dataclass(frozen=True)
class WorkloadKind:
    """Workloads that are no loop nest of one statement: names and files of a family of its own."""

    article: str
    """The name of one with its article: ``a filter``, say."""
    names: Callable[[], tuple[str, ...]]
    """The names of those that come with it."""
    takes: Callable[[object], bool]
    """Whether a name, a file or a workload is of this kind."""
    find: Callable[[Any, Mapping[str, int]], LoopNest]
    """The workload of a name, with other sizes."""


#: Kinds of workloads beside loop nests.
KINDS: Registry[WorkloadKind] = Registry("workload kinds")

#: Readers of other files that state a loop nest, by their ending.
NEST_FILES: Registry[Callable[[Path], LoopNest]] = Registry("nest files")


def workload_names() -> tuple[str, ...]:
    """Names of the workloads that come with Ithaca."""
    return packaged_names(_PACKAGE)


def _read(name_or_path: str) -> LoopNest:
    from ithaca.files.documents import find_document
    from ithaca.files.timeloop_files import load_timeloop
    from ithaca.workloads.kernel_files import MAX_BYTES, kernel_nest

    for kind in KINDS.values():
        if kind.takes(name_or_path):
            raise InputError(
                f"workload {quoted(name_or_path)} is {kind.article}; allowed here: a loop nest"
            )
    if (ending := Path(name_or_path).suffix.lower()) in NEST_FILES:
        return NEST_FILES[ending](Path(name_or_path))
    load = partial(load_timeloop, max_bytes=MAX_BYTES, tags=())
    find = partial(
        find_document,
        "workload",
        name_or_path,
        _PACKAGE,
        MAX_BYTES,
        also={"matmul": "mm", "gemm": "mm", "linear": "mm"},  # names that others use
    )
    read, where = find(load=load, more=[name for kind in KINDS.values() for name in kind.names()])
    if isinstance(read, dict) and "problem" in read:
        from ithaca.workloads.problem_files import problem_nest

        return problem_nest(read["problem"], f"{where}: problem")
    return kernel_nest(read, where)


_packaged = cache(_read)


def workload(name_or_path: str, sizes: Mapping[str, int] | None = None) -> LoopNest:
    """Look up a workload by name, or read its kernel file or Timeloop's, and set its extents.

    The sizes replace its own extents (iterations) and parameters. Raises `InputError` if there is
    no such workload, its file is no kernel file, a name is neither a loop nor a parameter, or a
    value is out of range.
    """
    from ithaca.workloads.kernel_files import check_simd

    nest = (_packaged if name_or_path in workload_names() else _read)(name_or_path)
    sized = nest.with_sizes(sizes or {})
    check_simd(sized)  # again, because a stride decides it
    return sized


def read_nest(
    source: str | PathLike[str] | LoopNest, sizes: Mapping[str, int] | None = None
) -> LoopNest:
    """The loop nest that a name, a statement, an einsum or a path says, or that is given, with
    extents and parameters."""
    from ithaca.workloads.kernel_files import statement_nest

    if isinstance(source, LoopNest):
        return source.with_sizes(sizes or {})
    text = str(source)
    if not is_statement(text):
        try:
            return workload(text, sizes)
        except InputError:
            from ithaca.workloads.elsewhere import check_elsewhere

            check_elsewhere(text)
            raise
    nest = statement_nest(text, sizes or {})
    # what the library has goes by its name there
    return next(filter(None, (_as_known(nest, name) for name in workload_names())), nest)


def _as_known(nest: LoopNest, name: str) -> LoopNest | None:
    """A nest as the library's of a name, if it is that one."""
    kernel = _packaged(name)
    if nest.loops != kernel.loops or dict(nest.parameters).keys() != dict(kernel.parameters).keys():
        return None
    known = kernel.with_sizes(nest.settings)
    same = replace(known, name=nest.name, template=nest.template, parameters=nest.parameters)
    return known if same == nest else None


def workload_document(nest: LoopNest) -> dict[str, Any]:
    """The workload as results state it, for `documented_workload` to build again.

    That is its name, extents and parameters, and of a nest that is not the library's the whole
    kernel, so that a result can be read without the file its workload came from.
    """
    document: dict[str, Any] = {"name": nest.name, "sizes": nest.sizes}
    if nest.parameters:
        document["parameters"] = dict(nest.parameters)
    if nest.name not in workload_names() or not is_variant(nest, _packaged(nest.name)):
        untiled = [loop for loop in nest.loops if loop in nest.untiled]
        document["kernel"] = {
            "statement": nest.template or str(nest),
            "untiled": untiled,
            "simd": nest.simd,
        }
    if nest.densities and not isinstance(nest.densities, str):
        from ithaca.workloads.densities import density_fields

        document["densities"] = density_fields(nest.densities)
    return document | nest.labels


def documented_workload(
    name: str,
    sizes: Mapping[str, int],
    parameters: Mapping[str, int],
    kernel: Mapping[str, Any] | None,
) -> LoopNest:
    """The nest that the parts of a `workload_document` state.

    Parameters
    ----------
    name : str
        Name of the workload.
    sizes : mapping of str to int
        Extent of each loop.
    parameters : mapping of str to int
        Parameters of the subscripts, such as strides.
    kernel : mapping, optional
        Statement and other fields of a kernel that is not the library's.

    Returns
    -------
    LoopNest
        The nest.

    Raises
    ------
    InputError
        If the parts state no nest, or an extent or parameter is missing.
    """
    if kernel is not None:
        from ithaca.workloads.kernel_files import kernel_nest

        document = {"name": name, "extents": dict(sizes), "parameters": dict(parameters), **kernel}
        return kernel_nest(document, "kernel")
    if name not in workload_names():
        raise InputError(
            f"unknown workload {quoted(name)}; known: "
            f"{', '.join(workload_names())}; or one with its kernel"
        )
    known = _packaged(name)
    for what, entries, allowed in (
        ("loop", sizes, known.loops),
        ("parameter", parameters, [n for n, _ in known.parameters]),
    ):
        for entry in entries:
            if entry not in allowed:
                raise InputError(f"unknown {what} {quoted(entry)} of {name}{among(entry, allowed)}")
    for loop in known.loops:
        if loop not in sizes:
            raise InputError(f"sizes.{loop} is missing; allowed: exactly {', '.join(known.loops)}")
    return workload(name, {**sizes, **parameters})


def is_variant(nest: LoopNest, kernel: LoopNest) -> bool:
    """Whether a nest is a kernel with other sizes."""
    if nest.loops != kernel.loops or dict(nest.parameters).keys() != dict(kernel.parameters).keys():
        return False
    return kernel.with_sizes(nest.settings) == replace(nest, sparse=None, formats=())
