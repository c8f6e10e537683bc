"""Requirements and metrics of one's own of co-designs, against enumeration."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random
from shlex import split

import pytest

from ithaca.formulations.configuration import Configuration
from ithaca.plugins.codesign.studies.codesign import codesign
from ithaca.plugins.codesign.studies.question import make_question
from ithaca.solver.certificate import Status
from tests import command_line
from tests.plugins.codesign.studies.toy import enumerated, random_question

#: Requirements, and what must not be above 0: of quantities and costs, and of totals of a workload.
REQUIREMENTS = {
    "size >= 2*wires": lambda h, t: 2 * h["wires"] - h["size"],
    "hardware.size <= area - 2": lambda h, t: h["size"] - h["area"] + 2,
    "area == size + 2*wires": lambda h, t: abs(h["area"] - h["size"] - 2 * h["wires"]),
    "latency <= 30*price": lambda h, t: t["latency"] - 30 * h["price"],
    "latency <= 90": lambda h, t: t["latency"] - 90,
    "energy + 40 >= 9*latency": lambda h, t: 9 * t["latency"] - t["energy"] - 40,
    "traffic - 12 == 4*wires": lambda h, t: abs(t["traffic"] - 12 - 4 * h["wires"]),
    "2*traffic >= latency + size": lambda h, t: t["latency"] + h["size"] - 2 * t["traffic"],
}
TOTALS = ("latency", "energy", "traffic")


def least(question, texts):
    """The least sum of the objective's metric over all accelerators and mappings that keep some of
    the requirements, and by how much each of these is missed at least by itself."""
    space, best, missed = question.space, [], dict.fromkeys(texts, None)
    metric = question.objectives[0].text
    ways = (False, True) if space.accelerator.both else (False,)
    for values in product(*(quantity.values for quantity in space.quantities)):
        point = Configuration(dict(zip((q.name for q in space.quantities), values, strict=True)))
        if not all(rule.allows(point) for rule in space.rules):
            continue
        figures = {name: figure.at(point) for name, figure in space.figures.items()}
        hardware = {**point, **{name: figure.at(point) for name, figure in space.costs.items()}}
        sums = {(Fraction(0),) * len(TOTALS)}
        for work in question.works:
            n, k = work.nest.sizes.values()
            runs = {
                tuple(mapping[name] for name in TOTALS)
                for steep in ways
                for mapping in enumerated(n, k, figures, steep=steep)
            }
            sums = {
                tuple(total + work.count * own for total, own in zip(known, run, strict=True))
                for known, run in product(sums, runs)
            }
        for known in sums:
            totals = dict(zip(TOTALS, known, strict=True))
            excess = {text: REQUIREMENTS[text](hardware, totals) for text in texts}
            if all(each <= 0 for each in excess.values()):
                best.append(totals[metric])
            for text, each in excess.items():
                missed[text] = each if missed[text] is None else min(missed[text], each)
    return min(best, default=None), missed


def drawn(seed):
    """A random question for a sum over one workload, without limits, and some requirements."""
    draw, question = Random(seed), random_question(seed)
    works = [replace(w, workload="one", weight=Fraction(1)) for w in question.works[:2]]
    texts = draw.sample(sorted(REQUIREMENTS), draw.randint(1, 2))
    objective = draw.choice(("latency", "energy"))
    bounds = dict.fromkeys(texts, Fraction(0))
    return make_question(question.space, works, [objective], bounds), texts


@pytest.mark.parametrize(
    "seed",
    [
        *(1, 2, 3, 5, 6, 10),
        *(pytest.param(n, marks=pytest.mark.ci) for n in (0, 4, 7, 8, 9, 11)),
        *(pytest.param(n, marks=pytest.mark.slow) for n in range(12, 200)),
    ],
)
def test_the_best_that_keeps_requirements_is_that_of_enumeration(seed):
    question, texts = drawn(seed)
    result, (best, missed) = codesign(question), least(question, texts)
    assert result.value == best
    assert result.certificate.status is (Status.INFEASIBLE if best is None else Status.OPTIMAL)
    for fall in result.shortfalls:
        if fall.smallest is not None and not fall.others_kept:
            assert fall.smallest <= missed[fall.metric]
        if fall.proven and len(texts) == 1 and "==" not in fall.metric:
            assert fall.smallest == missed[fall.metric]


def succeed(text):
    """The output of a command."""
    return command_line.succeed(*split(text)).stdout


def refused(text):
    """The line that refuses a command."""
    return command_line.refused(*split(text))


SPACE = (
    "codesign dmazerunner-memory mm -s i=16,j=16,k=16 --divisors-only --objective latency+energy"
)


@pytest.mark.ci
def test_requirements_stand_in_files_answers_and_proofs(tmp_path):
    path = tmp_path / "c.json"
    free = succeed(f"{SPACE} -o {tmp_path / 'free.json'}")
    kept = succeed(f'{SPACE} --require "spm_kb == 4*rf_bytes" -o {path}')
    assert "required   spm_kb == 4*rf_bytes" in kept
    assert "required" not in free
    assert "spm_kb 64 kB" in kept
    assert '"spm_kb == 4*rf_bytes": 0' in path.read_text()
    assert "optimal" in succeed(f"verify {path}")
    text = succeed(f"explain {path}")
    assert "Requirement spm_kb == 4*rf_bytes: it holds, with 0 to spare." in text
    assert "Tried" not in text  # any other single value breaks it
    path.write_text(path.read_text().replace("4*rf_bytes", "5*rf_bytes"))
    assert "requirement spm_kb == 5*rf_bytes is missed by" in refused(f"verify {path}")


@pytest.mark.ci
def test_a_metric_of_ones_own_is_what_it_stands_for():
    own = succeed(f'{SPACE.partition(" --objective")[0]} --metric "both=latency+energy" '
                  '--objective both --require "both <= 1e9"')  # fmt: skip
    value = next(line for line in succeed(SPACE).splitlines() if "objective" in line)
    assert value.split()[2] in own


@pytest.mark.ci
def test_normalised_parts_are_over_their_own_optima():
    answer = succeed(SPACE.replace("latency+energy", "norm(latency)+norm(energy)"))
    sums = [
        float(line.split()[2].replace(",", ""))
        for metric in ("latency", "energy")
        for line in succeed(SPACE.replace("latency+energy", metric)).splitlines()
        if line.startswith("objective")
    ]
    assert all(f"/{int(n)})" in answer for n in sums[:1])
    value = next(line for line in answer.splitlines() if line.startswith("objective"))
    assert 2 <= float(value.split()[2]) < 3


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ('--require "tiles.k <= 8"', "unknown name 'tiles.k'"),
        ('--require "latency"', "allowed: comparisons by"),
        ('--metric "latency=1"', "'latency' is a metric already"),
        ('--objective "norm(latency)" --vary spm_kb=16,32', "--vary does not go with norm()"),
        ("--limit power=3W", "without a unit"),
    ],
)
def test_what_cannot_be_required_is_refused_in_one_line(words, why):
    assert why in refused(f"{SPACE.partition(' --objective')[0]} {words}")


def test_names_of_metrics_and_quantities_alike_are_refused():
    line = refused('codesign explainable-edge --require "pes <= 100"')
    assert "allowed: hardware.pes, the quantity" in line
    assert "--require does not go with space u250-arrays" in refused(
        'codesign u250-arrays --require "dsp_1 <= 9"'
    )
