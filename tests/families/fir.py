"""A toy family: an FIR filter on a chain of DSP blocks, with a word length to choose.

``blocks`` multiply the taps in ``fold`` turns a sample; each takes ``word`` bits, and samples arrive
``burst`` at a time through 64 bits. Longer words are less noisy, but take more slices and energy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from ithaca.formulations.algebra.expression import Constant, Symbol, ceiling_division
from ithaca.formulations.algebra.number_systems import NumberSystem
from ithaca.formulations.design import Design, Metric
from ithaca.formulations.documents import Document
from ithaca.formulations.family import Family, Profile
from ithaca.formulations.problem import Problem
from ithaca.formulations.question import Question
from ithaca.formulations.question_kind import QuestionKind
from ithaca.formulations.schema import ObjectiveDocument, PlatformDocument
from ithaca.formulations.space import Axis, Link, Quantity, QuantityKind, Relation, Role, Space
from ithaca.formulations.space import make_space as whole
from ithaca.workloads.kernel_files import statement_nest
from ithaca.workloads.nest import LoopNest

BLOCKS, FOLD, WORD, BURST = Symbol("blocks"), Symbol("fold"), Symbol("word"), Symbol("burst")
PORT_BITS, SLICE_BITS = 64, 16

VOCABULARY = {
    metric.name: metric
    for metric in (
        Metric("latency", "cycles", "turns of all samples, filling the chain, and bursts"),
        Metric("dsp", "slices", "DSP slices of all blocks"),
        Metric("energy", "pJ", "a quarter of the squared word length a multiplication"),
        Metric("noise", "steps", "of 32-bit words"),
    )
}


@dataclass(frozen=True)
class Fir(Design):
    """A filter of some taps over some samples, transposed (the chain holds sums) or not."""

    taps: int
    samples: int
    transposed: bool = False
    family, vocabulary = "fir", VOCABULARY

    @property
    def name(self) -> str:
        return "transposed" if self.transposed else "direct"

    @property
    def space(self) -> Space:
        chain = Axis(
            "chain",
            (Quantity("blocks", 1, self.taps, role=Role.HARDWARE), Quantity("fold", 1, self.taps)),
            (Link(FOLD, Relation.EQUAL, ceiling_division(Constant(Fraction(self.taps)), BLOCKS)),),
        )
        words = Axis("words", (Quantity("word", 4, 32, QuantityKind.POWER_OF_TWO),))
        port = Axis("port", (Quantity("burst", 1, 16, QuantityKind.POWER_OF_TWO, Role.PORT),))
        links = [Link(BURST * WORD, Relation.AT_MOST, Constant(Fraction(PORT_BITS)))]
        if self.transposed:
            links.append(Link(BURST, Relation.DIVIDES, BLOCKS))
        return whole((chain, words, port), links)

    def metrics(
        self, values: Mapping[str, Any], numbers: NumberSystem, names: Collection[str] | None = None
    ) -> dict[str, Any]:
        blocks, fold, word, burst = (values[name] for name in ("blocks", "fold", "word", "burst"))
        number = lambda value: numbers.number(Fraction(value))  # noqa: E731
        bursts = number(self.samples) / burst
        found = {
            "latency": numbers.maximum(fold * number(self.samples), bursts * word)
            + blocks * (1 if self.transposed else 2),
            "dsp": blocks * numbers.ceil_div(word, number(SLICE_BITS)),
            "energy": word * word * number(Fraction(self.samples * self.taps, 4)),
            "noise": number(32) / word,
        }
        return {name: found[name] for name in found if names is None or name in names}

    def preferences(self, values: Mapping[str, Any], numbers: NumberSystem) -> tuple[Any, ...]:
        return (self.metrics(values, numbers)["energy"],)


class FirProfile(Profile[Fir]):
    """A filter in words."""

    @property
    def attributes(self) -> Mapping[str, str | float]:
        taps, samples = self.design.taps, self.design.samples
        return {"filter": f"{taps} taps, {samples} samples", "design": self.design.name}

    @property
    def nest(self) -> LoopNest:
        return FirQuestion.nest("", {"taps": self.design.taps, "samples": self.design.samples})


class FirHead(Document):
    taps: int
    samples: int
    platform: PlatformDocument
    objective: ObjectiveDocument


class FirChoice(Document):
    transposed: bool


class FirQuestion(Question):
    """Filters, transposed or not."""

    facts: ClassVar[Mapping[str, str]] = {"platform": "board", "edition": "exact"}

    @classmethod
    def nest(cls, workload: Any, sizes: Mapping[str, int]) -> LoopNest:
        return statement_nest("y[samples] += h[taps] * x[samples + taps]", sizes, name="filter")

    def designs(self, nest: LoopNest, memory: Any = ()) -> tuple[Fir, ...]:
        return tuple(Fir(nest.sizes["taps"], nest.sizes["samples"], how) for how in (False, True))


KIND = QuestionKind("filters", takes="filter".__eq__)


class FirFamily(Family[Fir]):
    """The documents of filters."""

    document, profile = "filter", FirProfile
    head, choice, tiling = FirHead, FirChoice, dict[str, int]

    def head_fields(self, design: Fir) -> Mapping[str, Any]:
        return {"taps": design.taps, "samples": design.samples}

    def choice_fields(self, design: Fir) -> Mapping[str, Any]:
        return {"transposed": design.transposed}

    def setting(self, head: FirHead) -> tuple[int, int]:
        return head.taps, head.samples

    def vocabulary(self, setting: tuple[int, int]) -> Mapping[str, Metric]:
        return VOCABULARY

    def design(self, setting: tuple[int, int], choice: FirChoice) -> Fir:
        return Fir(*setting, choice.transposed)


def fir_problem(
    taps: int, samples: int, objective: str = "latency", *, transposed: bool = False, **limits: int
) -> Problem:
    bounds = {name: Fraction(bound) for name, bound in limits.items()}
    asked = FirQuestion(objective=FirQuestion.minimised(objective), bounds=bounds)
    return asked.problem(Fir(taps, samples, transposed))


FAMILY = FirFamily()
