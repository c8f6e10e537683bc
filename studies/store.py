"""A folder of answers: what a study solved, kept for the next run.

One JSON file per set of problems, named by its fingerprint and written whole or not at all.
Numbers are exact ("p/q"). What is read back is not taken on trust: the configuration must be
one of the problem, and its value what the Fraction reference computes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError

from ithaca.formulations.json_numbers import SCHEMA, document_text, parse_json, read_text, refuse_invalid
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.membership import feasible_value
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.certificate import Certificate, Status, relative_gap
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.solution import Shortfall, make_solution
from ithaca.studies.answer import Answer
from ithaca.studies.fingerprint import fingerprint
from ithaca.workloads.errors import InputError
from ithaca.workloads.writing import write_text_atomically

#: Largest file of the store (bytes); one has about 2 kB.
MAX_BYTES = 2**20

Note = Callable[[str], None]


@dataclass(frozen=True)
class Kept:
    """An answer of the store, with how far its search was told to go.

    Attributes
    ----------
    answer : Answer
        The answer.
    time_limit : float or None
        The time limit of its own search (seconds).
    engine : str
        The engine that was asked.
    """

    answer: Answer
    time_limit: float | None
    engine: str

    def serves(self, options: SolveOptions, method: Method = Method.EXACT) -> bool:
        """Whether solving again under ``options`` by an engine could not be asked to do better."""
        certificate = self.answer.certificate
        if self.answer.settled or (certificate.gap is not None and certificate.gap <= options.gap):
            return True
        if self.engine != method.value:
            return False
        return None not in (self.time_limit, options.time_limit) and options.time_limit <= self.time_limit  # type: ignore[operator]


class Store:
    """A results folder.

    Parameters
    ----------
    folder : Path
        Made if missing; the folder that contains it must exist.
    note : callable
        Told, in one line, of files that cannot be used.

    Raises
    ------
    InputError
        If it is no folder and cannot be made.
    """

    def __init__(self, folder: Path, note: Note = lambda line: None) -> None:
        self.folder = folder
        self._note = note
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot use {folder} as results folder: {error.strerror}") from None
        except ValueError:
            raise InputError(f"cannot use {str(folder)!r} as results folder: it is no path") from None

    def load(self, problems: Sequence[Problem]) -> Kept | None:
        """The kept answer to some problems; None if there is none or its file is of no use."""
        path = self.path(problems)
        if not path.exists():
            return None
        try:
            return _kept(_Document.model_validate(parse_json(read_text(path, MAX_BYTES), path)), path.stem, problems)
        except ValidationError as error:
            reason: object = refuse_invalid(path, error, _Document)
        except InputError as error:
            reason = error if str(path) in str(error) else f"{path}: {error}"
        self._note(f"ignored a kept result, solving again: {reason}")
        return None

    def save(self, problems: Sequence[Problem], answer: Answer, options: SolveOptions, method: Method = Method.EXACT) -> None:
        """Keep an answer and what was asked for it, replacing an older one."""
        path = self.path(problems)
        write_text_atomically(path, document_text(_document(path.stem, problems, answer, options, method)))

    def path(self, problems: Sequence[Problem]) -> Path:
        """Where the answer to some problems is kept."""
        return self.folder / f"{fingerprint(problems)}.json"


def _rational(value: object) -> Fraction:
    if not isinstance(value, str) or len(value) > 1000:
        raise ValueError("a text such as '3/2'")
    try:
        return Fraction(value)
    except ZeroDivisionError:
        raise ValueError("a text such as '3/2'") from None


Rational = Annotated[Fraction, PlainValidator(_rational)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class _Tiling(_Strict):
    array_part: dict[str, int]
    latency_hiding: dict[str, int]
    simd: int
    pack: dict[str, int]


class _Shortfall(_Strict):
    design: str
    metric: str
    bound: Rational
    smallest: Rational
    others_kept: bool
    proven: bool


class _Document(_Strict):
    schema_: Annotated[Literal["ithaca/1"], Field(alias="schema")]
    fingerprint: str
    problem: dict[str, Any]
    time_limit: Annotated[float, Field(ge=0)] | None
    engine: str
    design: Annotated[int, Field(ge=0)] | None
    tiling: _Tiling | None
    value: Rational | None
    lower_bound: Rational | None
    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    method: str
    nodes: Annotated[int, Field(ge=0)]
    seconds: Annotated[float, Field(ge=0)]
    shortfalls: list[_Shortfall]


def _document(name: str, problems: Sequence[Problem], answer: Answer, options: SolveOptions, method: Method) -> dict[str, Any]:
    first, solution, certificate = problems[0], answer.solution, answer.certificate
    design = None
    tiling: dict[str, Any] | None = None
    if solution is not None and solution.tiling is not None:
        design = next(i for i, p in enumerate(problems) if p.array == solution.problem.array)
        tiling = {
            "array_part": dict(solution.tiling.array_part),
            "latency_hiding": dict(solution.tiling.latency_hiding),
            "simd": solution.tiling.simd,
            "pack": dict(solution.tiling.pack),
        }
    return {
        "schema": SCHEMA,
        "fingerprint": name,
        # for people; what counts is the fingerprint
        "problem": {
            "workload": first.nest.name,
            "sizes": first.nest.sizes,
            "dtype": first.data.name,
            "limits": {limit.metric: str(limit.bound) for limit in first.limits},
            "objective": first.objective.text,
            "edition": first.array.edition.value,
            "designs": [p.array.name for p in problems],
        },
        "time_limit": options.time_limit,
        "engine": method.value,
        "design": design,
        "tiling": tiling,
        "value": None if answer.value is None else str(answer.value),
        "lower_bound": None if certificate.lower_bound is None else str(certificate.lower_bound),
        "status": certificate.status.value,
        "method": certificate.method,
        "nodes": certificate.nodes,
        "seconds": certificate.seconds,
        "shortfalls": [
            {
                "design": name,
                "metric": s.metric,
                "bound": str(s.bound),
                "smallest": str(s.smallest),
                "others_kept": s.others_kept,
                "proven": s.proven,
            }
            for name, s in answer.shortfalls
        ],
    }


def _kept(read: _Document, name: str, problems: Sequence[Problem]) -> Kept:
    if read.fingerprint != name:
        raise InputError("fingerprint is not the file's name; allowed: a file as Ithaca wrote it")
    status = Status(read.status)
    if (status in (Status.OPTIMAL, Status.FEASIBLE)) != (read.tiling is not None):
        raise InputError(f"status is '{read.status}', which contradicts the tiling")
    if status is Status.OPTIMAL and read.lower_bound != read.value:
        raise InputError("status is 'optimal' but lower_bound is not the value")
    if read.value is not None and read.lower_bound is not None and read.lower_bound > read.value:
        raise InputError("lower_bound is above the value")
    certificate = Certificate(
        status, read.lower_bound, relative_gap(read.value, read.lower_bound), read.method, read.nodes, read.seconds
    )
    falls = tuple((s.design, Shortfall(s.metric, s.bound, s.smallest, s.others_kept, s.proven)) for s in read.shortfalls)
    if read.tiling is None:
        return Kept(Answer(None, certificate, falls), read.time_limit, read.engine)
    if read.design is None or read.design >= len(problems):
        raise InputError(f"design is {read.design}; allowed: the number of a design, from 0 to {len(problems) - 1}")
    problem = problems[read.design]
    tiling = Tiling(**read.tiling.model_dump())
    value = feasible_value(problem, tiling)
    if value is None or value != read.value:
        raise InputError("the tiling is not the problem's, or its value not the model's")
    return Kept(Answer(make_solution(problem, tiling, certificate), certificate, falls), read.time_limit, read.engine)
