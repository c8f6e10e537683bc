"""A folder of answers: what a study solved, kept for the next run.

One JSON file per set of problems, named by its fingerprint and written whole or not at all.
Numbers are exact ("p/q"). What is read back is not taken on trust: the configuration must be
one of the problem, and its value what the Fraction reference computes. Proofs cannot be seen from
an answer, so a file has the seal of who wrote it (`ithaca.files.seals`), its name changes with the
code that proves (`ithaca.files.caches`), and any may be proven again before it is taken.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any

from pydantic import Field, PlainSerializer, PlainValidator

from ithaca.files.caches import proving_code
from ithaca.files.documents import validated
from ithaca.files.errors import InputError
from ithaca.files.messages import refuse
from ithaca.files.numbers import counted
from ithaca.files.reading import parse_json, read_text
from ithaca.files.seals import is_sealed, own_key, seal
from ithaca.files.writing import SCHEMA, Schema, document_text, write_text_atomically
from ithaca.formulations.algebra.expression import ONE, Expression
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_models import built
from ithaca.formulations.documents import Document
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Objective, Problem
from ithaca.solver.certificate import Certificate, Further, Status, Termination, relative_gap
from ithaca.solver.documents import (
    FurtherDocument,
    ShortfallDocument,
    check_certificate,
    read_further,
)
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.shortfall import Shortfall
from ithaca.solver.solution import Solution
from ithaca.studies.best import proven_again
from ithaca.studies.scale import metric_form

#: Models whose statement is kept.
MODELS = 64


def digest(value: Any) -> str:
    """Hash data, in 64 hexadecimal digits."""
    return hashlib.sha256(json.dumps(_canonical(value), sort_keys=True).encode()).hexdigest()


def fingerprint(problems: Sequence[Problem]) -> str:
    """Hash everything the best configuration over some designs, one problem each, depends on, in 64
    hexadecimal digits.

    That is the nest with its extents, the data type, limits, objective, technology and options of
    the design space; each derived array; and the cost model, as the expressions it yields for the
    metrics that objective and limits speak of, and for the constraints that hold in any case. And
    it is the code that proves.
    """
    return digest([proving_code(), [(p, _model(p)) for p in problems]])


def _model(problem: Problem) -> Any:
    """The cost model of a problem, as a value to tell models apart."""
    names = problem.objective.expression.symbols.union(
        *(limit.expression.symbols for limit in problem.limits)
    )
    return _stated(replace(problem, limits=(), objective=Objective("1", ONE)), tuple(sorted(names)))


@lru_cache(MODELS)
def _stated(bare: Problem, names: tuple[str, ...]) -> Any:
    """The cost model of a problem without objective and limits: fronts ask for one hundreds of
    times."""
    return _canonical([bare.symbolic(), {name: metric_form(bare, name) for name in names}])


def _canonical(value: Any) -> Any:
    """A value as JSON that does not depend on hashing or identity."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Fraction | Expression):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Enum):
        return value.name
    if is_dataclass(value):
        return {f.name: _canonical(getattr(value, f.name)) for f in fields(value) if f.compare}
    if isinstance(value, Mapping):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted(str(_canonical(item)) for item in value)
    if isinstance(value, Sequence):
        return [_canonical(item) for item in value]
    raise TypeError(f"no canonical form of {type(value).__name__}")


#: What is said of files without this user's seal.
FOREIGN = "as not made here, or changed since"

#: Largest file of the store (bytes); one has about 2 kB.
MAX_BYTES = 2**20

Note = Callable[[str], None]


@dataclass(frozen=True)
class StoredAnswer:
    """An answer of the store, with the time limit of its own search (seconds) and the engine that
    was asked."""

    answer: Solution
    time_limit: float | None
    engine: str

    def serves(self, options: SolveOptions, method: str = Method.EXACT) -> bool:
        """Whether solving again under ``options`` by an engine could not be asked to do better."""
        certificate = self.answer.certificate
        if self.answer.settled:
            # without a time limit the search among ties ended by itself
            if self.answer.final or self.time_limit is None:
                return True
        elif certificate.gap is not None and certificate.gap <= options.gap:
            return True
        if self.engine != method:
            return False
        if self.time_limit is None or options.time_limit is None:
            return False
        return options.time_limit <= self.time_limit


@dataclass(frozen=True)
class Trust:
    """The trust in a results folder: which of its files are believed, and which are proven
    again."""

    foreign: bool = False
    """Whether files without this user's seal are: made elsewhere, or changed."""
    recheck: float = 0
    """How many of the files that are read are proven again before they are taken, the first ones;
    infinite: all."""
    search: SolveOptions = field(default_factory=SolveOptions)
    """How long all these proofs may take."""


class Store:
    """A results folder, made if missing; the folder that contains it must exist.

    ``note`` is told, in one line, of files that cannot be used, and at the end how many were not
    this user's, and how many were proven again. Raises `InputError` if it is no folder and cannot
    be made, or there is no key to seal files with.

    Parameters
    ----------
    folder : Path
        The folder.
    note : Note, optional
        Told of files that cannot be used.
    conditions : Sequence of str or int, optional
        What else tells answers to equal problems apart.
    trust : Trust, optional
        What is believed of it.
    """

    def __init__(
        self,
        folder: Path,
        note: Note = lambda line: None,
        conditions: Sequence[str | int] = (),
        trust: Trust | None = None,
    ) -> None:
        self.folder, self.trust = folder, trust or Trust()
        self._note, self._conditions = note, conditions
        self._refused = False  #: Whether a file could not be written
        self._counts: Counter[str] = Counter()  #: Of files, by what became of them
        self._key = own_key()
        self._recheck_within = self.trust.search.from_now
        self._names: dict[tuple[int, ...], tuple[Sequence[Problem], str]] = {}
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot use {folder} as results folder: {error.strerror}") from None
        except ValueError:
            raise InputError(
                f"cannot use {str(folder)!r} as results folder: it is no path"
            ) from None

    def load(self, problems: Sequence[Problem], name: str | None = None) -> StoredAnswer | None:
        """The kept answer to some problems; None if there is none or its file is of no use.

        A ``name`` stands for their fingerprint where that would take longer than the answer.
        """
        path = self.path(problems, name)
        if not path.exists():
            return None
        if not path.is_file():  # written to, a pipe would wait for ever
            raise refuse(path, "is no file; allowed: a folder of kept results")
        try:
            document = parse_json(read_text(path, MAX_BYTES), path)
            stored = _stored_answer(validated(_Document, document, path), path.stem, problems)
            own = is_sealed(document, self._key)
            if not own and not self.trust.foreign:
                if not self._counts["foreign"]:
                    self._note(f"solving again {path}, {FOREIGN}; --trust-results takes such files")
                self._counts["foreign"] += 1
                return None
            if self._counts["rechecked"] < self.trust.recheck:
                if not proven_again(stored.answer, problems, self._recheck_within):
                    raise InputError("it is not proven again in time")
                self._counts["rechecked"] += 1
            elif not own:
                self._counts["believed"] += 1
            return stored
        except InputError as error:
            reason = error if str(path) in str(error) else f"{path}: {error}"
        self._note(f"ignored a kept result, solving again: {reason}")
        return None

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Say what became of files."""
        for name, least, what in (
            ("rechecked", 1, "proven again"),
            ("foreign", 2, f"solved again, {FOREIGN}"),
            ("believed", 1, f"taken, {FOREIGN}"),
        ):
            if (count := self._counts[name]) >= least:
                self._note(f"{counted(count, 'kept result')} of {self.folder}: {what}")

    def save(
        self,
        problems: Sequence[Problem],
        answer: Solution,
        options: SolveOptions,
        method: str = Method.EXACT,
        name: str | None = None,
    ) -> None:
        """Keep an answer, replacing an older one; that it cannot be kept is noted, once.

        Once an answer without this user's seal was believed, others may rest on it: they get none.

        Parameters
        ----------
        problems : Sequence of Problem
            One per design.
        answer : Solution
            What came of them.
        options : SolveOptions
            How far they were searched.
        method : str, optional
            The engine.
        name : str, optional
            The name of the file; by default that of the problems.
        """
        path = self.path(problems, name)
        try:
            document = _document(path.stem, problems, answer, options, method)
            if not self._counts["believed"]:
                document["seal"] = seal(document, self._key)
            write_text_atomically(path, document_text(document))
        except InputError as error:
            if not self._refused:
                self._note(f"results are not kept: {error}")
            self._refused = True

    def path(self, problems: Sequence[Problem], name: str | None = None) -> Path:
        """The file in which the answer to some problems is kept."""
        if name is not None:
            return self.folder / f"{name}.json"
        # a hash takes longer than a look into the folder, and is asked for twice
        key = tuple(map(id, problems))
        if key not in self._names:
            name = fingerprint(problems)
            if self._conditions:
                name = digest([name, *self._conditions])
            self._names[key] = problems, name
        return self.folder / f"{self._names[key][1]}.json"


def _rational(value: object) -> Fraction:
    if isinstance(value, Fraction):
        return value
    if not isinstance(value, str) or len(value) > 1000:
        raise ValueError("a text such as '3/2'")
    try:
        return Fraction(value)
    except ZeroDivisionError:
        raise ValueError("a text such as '3/2'") from None


Rational = Annotated[Fraction, PlainValidator(_rational), PlainSerializer(str)]


class _Shortfall(ShortfallDocument):
    bound: Rational
    smallest: Rational | None
    design: str


class _Document(Document):
    schema_: Schema
    fingerprint: str
    problem: dict[str, Any]
    time_limit: Annotated[float, Field(ge=0)] | None
    engine: str
    design: Annotated[int, Field(ge=0)] | None
    configuration: dict[str, int] | None
    value: Rational | None
    lower_bound: Rational | None
    status: Annotated[Status, Field(strict=False)]
    termination: Annotated[Termination, Field(strict=False)] | None
    ties_broken: bool | None
    then: FurtherDocument | None = None
    method: str
    nodes: Annotated[int, Field(ge=0)]
    seconds: Annotated[float, Field(ge=0)]
    shortfalls: list[_Shortfall]
    code: str
    made: str
    seal: str | None = None


def _document(
    name: str, problems: Sequence[Problem], answer: Solution, options: SolveOptions, method: str
) -> dict[str, Any]:
    first, certificate, configuration = problems[0], answer.certificate, answer.configuration
    proof = ("lower_bound", "status", "termination", "method", "nodes", "seconds")
    fields = {
        "schema": SCHEMA,
        "fingerprint": name,
        # for people; what counts is the fingerprint
        "problem": {
            **profile_of(first.design).attributes,
            "limits": {limit.metric: str(limit.bound) for limit in first.limits},
            "objective": first.objective.text,
            "designs": [p.design.name for p in problems],
        },
        "time_limit": options.time_limit,
        "engine": method,
        "design": None
        if configuration is None
        else [p.design for p in problems].index(answer.problem.design),
        "configuration": None if configuration is None else dict(configuration),
        "value": answer.value,
        **{name: getattr(certificate, name) for name in (*proof, "ties_broken", "then")},
        "shortfalls": list(answer.shortfalls),
        # how it was proven, for people
        "code": proving_code(),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return _Document.model_validate(fields, from_attributes=True).as_json()


def _stored_answer(read: _Document, name: str, problems: Sequence[Problem]) -> StoredAnswer:
    if read.fingerprint != name:
        raise InputError("fingerprint is not the file's name; allowed: a file as Ithaca wrote it")
    gap = relative_gap(read.value, read.lower_bound)
    proof = (read.status, read.lower_bound, gap, read.method, read.nodes, read.seconds)
    certificate = Certificate(*proof, termination=read.termination, ties_broken=read.ties_broken)
    check_certificate(certificate, read.value, "the certificate")
    falls = tuple(Shortfall(**dict(fall)) for fall in read.shortfalls)
    if read.configuration is None:
        return StoredAnswer(
            Solution(problems[0], None, None, certificate, falls), read.time_limit, read.engine
        )
    if read.design is None or read.design >= len(problems):
        raise InputError(
            f"design is {read.design}; allowed: the number of a design, "
            f"from 0 to {len(problems) - 1}"
        )
    problem, configuration = problems[read.design], Configuration(read.configuration)
    value = problem.feasible_value(configuration)
    if value is None or value != read.value:
        raise InputError("the configuration is not the problem's, or its value not the model's")
    if read.then is not None:
        certificate = replace(certificate, then=built(Further, read.then))
        certificate = read_further(problem, configuration, certificate, "the certificate")
    return StoredAnswer(
        Solution(problem, configuration, value, certificate, falls), read.time_limit, read.engine
    )


class Shared:
    """Answers to problems that several points have, in front of what a folder keeps."""

    def __init__(self, store: Store | Shared | None) -> None:
        self._store = store
        self._known: dict[tuple[Problem, ...], StoredAnswer] = {}

    def load(self, problems: Sequence[Problem]) -> StoredAnswer | None:
        """The answer that is kept of some problems; None if none is."""
        known = self._known.get(tuple(problems))
        if known is None and self._store is not None:
            return self._store.load(problems)
        return known

    def save(
        self,
        problems: Sequence[Problem],
        answer: Solution,
        options: SolveOptions,
        method: str = Method.EXACT,
    ) -> None:
        """Keep the answer of some problems.

        Parameters
        ----------
        problems : Sequence of Problem
            One per design.
        answer : Solution
            What is kept.
        options : SolveOptions
            How far the search was to go.
        method : str, optional
            The engine that was wanted.
        """
        self._known[tuple(problems)] = StoredAnswer(answer, options.time_limit, method)
        if self._store is not None:
            self._store.save(problems, answer, options, method)
