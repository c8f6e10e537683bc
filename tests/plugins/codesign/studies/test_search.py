"""Every claim over a space of accelerators, against all accelerators with all mappings."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from random import Random

import pytest

from ithaca.files.plugin import plugins
from ithaca.formulations.algebra.expression import SYMBOLIC
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Limit, Objective
from ithaca.plugins.codesign.formulations.files import find_space
from ithaca.plugins.codesign.studies import candidates, layer_cache
from ithaca.plugins.codesign.studies.codesign import CodesignOptions, codesign, make_bank
from ithaca.plugins.codesign.studies.infeasible import shortfalls
from ithaca.plugins.codesign.studies.question import make_question
from ithaca.plugins.codesign.studies.search import BoxSearch
from ithaca.plugins.codesign.studies.workloads import find_workloads
from ithaca.plugins.hierarchies.formulations.published.explainable import model
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.executor import InProcess
from ithaca.solver.options import SolveOptions
from ithaca.solver.reasons import CONTRADICTION, explain
from ithaca.solver.staged.engine import solve_staged
from ithaca.studies.store import Store
from tests.families.stranger import install
from tests.plugins.codesign.studies.toy import brute_force, expression, random_question


@pytest.fixture(autouse=True, scope="module")
def _installed(tmp_path_factory):
    """The toy's family, as far as its words go."""
    folder = tmp_path_factory.mktemp("site")
    install(folder, "tests.plugins.codesign.studies.toy:PLUGIN")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        plugins.cache_clear()
        yield
    plugins.cache_clear()


@pytest.mark.parametrize(
    "seed", [*range(9), *(pytest.param(n, marks=pytest.mark.slow) for n in range(9, 100))]
)
def test_optima_and_fronts_are_those_of_enumeration(seed):
    question = random_question(seed)
    result, expected = codesign(question), brute_force(question)
    assert [point.values for point in result.front] == sorted(expected)
    assert result.certificate.status is (Status.OPTIMAL if expected else Status.INFEASIBLE)
    assert not result.open
    for point in result.front:
        assert question.space.allows(point.point)
        assert point.values == tuple(point.total(amount) for amount in question.minimised)
        assert all(
            amount.bound is None or point.total(amount) <= amount.bound
            for amount in question.limited
        )
        for solution in point.layers:
            assert solution.configuration is not None
            assert solution.problem.feasible_value(solution.configuration) == solution.value


def test_in_limited_time_an_accelerator_is_known_before_others_are_compared(
    monkeypatch,
):
    known, climb = [], candidates.climb

    def watched(quantities, point, judge, *others):
        known.append(len(judge.__self__.points))
        return climb(quantities, point, judge, *others)

    monkeypatch.setattr(candidates, "climb", watched)
    question = random_question(14)
    limited = codesign(question, CodesignOptions(search=SolveOptions(time_limit=1e6)))
    assert known[0] == 1
    assert [p.values for p in limited.front] == [p.values for p in codesign(question).front]


def test_what_is_enumerated_is_bounded_before_accelerators_are_looked_for():
    space, some = find_space("hasco-conv"), {"x": (4, 5, 8, 12), "y": (4, 8, 9)}
    some |= {"scratchpad_kb": (64, 256), "local_kb": (64,), "banks": (2, 8)}
    space = space.only({q.name: some.get(q.name, q.values[:1]) for q in space.quantities})
    works = find_workloads(["conv2d"], sizes={"o": 20, "r": 9, "c": 9, "i": 16, "p": 3, "q": 3})
    question = make_question(space, works, ["latency"])
    result, (objective,) = codesign(question), question.objectives
    names = [q.name for q in space.quantities]
    points = [
        dict(zip(names, at, strict=True)) for at in product(*(q.values for q in space.quantities))
    ]
    asked = (
        space.accelerator.problems(works[0], space.at(Configuration(p)), objective) for p in points
    )
    values = [solve_exact(problem).value for each in asked for problem in each]
    assert result.value == min(value for value in values if value is not None)
    assert result.certificate.status is Status.OPTIMAL
    assert result.counts.layers <= 2 < len(some["x"]) * len(some["y"])  # of one mesh


def test_layers_are_searched_once_where_known_mappings_reach_a_bound_and_their_rules_written_once(
    monkeypatch,
):
    searches, written = [], []
    solve_layer, used = layer_cache.solve_layer, model.used

    def searched(*arguments):
        searches.append(arguments)
        return solve_layer(*arguments)

    def counted(layer, machine, at, numbers):
        written.append(numbers is SYMBOLIC)
        return used(layer, machine, at, numbers)

    monkeypatch.setattr(layer_cache, "solve_layer", searched)
    monkeypatch.setattr(model, "used", counted)
    space = find_space("explainable-edge")
    works = find_workloads(["conv2d"], sizes={"o": 64, "r": 8, "c": 8, "i": 16, "p": 1, "q": 1})
    question = make_question(space, works, ["latency"])
    search = BoxSearch(question, make_bank(question, CodesignOptions()))
    least = {q.name: q.values[0] for q in space.quantities} | {"rf_bytes": 64, "off_chip": 51200}
    least |= {name: 512 for name in least if name.endswith("virtual")}
    for width in (128, 144, 160):
        point = Configuration(least | {"width": width})
        value = search._candidates.solve(point)
        (problem,) = space.accelerator.problems(
            works[0], space.at(point), question.amounts[0].of_layer(space.cost(point))
        )
        assert value == solve_staged(problem).value == search._candidates.floor(point)
        (run,) = search._candidates._runs(point)
        assert search.bank.tried_value(run) == search.bank.tried(run).value == value
    assert len(searches) == 1
    assert sum(written) <= 2  # by words of a bank, and whether factors divide: not by accelerator


def test_any_number_of_workers_and_a_results_folder_give_the_same(tmp_path):
    question = random_question(14)
    alone = codesign(question)
    kept = codesign(question, CodesignOptions(store=Store(tmp_path / "kept")))
    files = {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()}
    again = codesign(question, CodesignOptions(store=Store(tmp_path / "kept")))
    many = codesign(question, CodesignOptions(threads=2))
    assert files
    assert {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()} == files
    assert timeless(alone) == timeless(kept) == timeless(again) == timeless(many)


def timeless(result):
    """All that a result says but for its seconds."""

    def point(found):
        layers = (replace(s, certificate=replace(s.certificate, seconds=0.0)) for s in found.layers)
        return replace(found, layers=tuple(layers))

    front = tuple(map(point, result.front))
    best = front[0] if front else None
    proof = replace(result.certificate, seconds=0.0)
    return vars(replace(result, best=best, front=front, certificate=proof))


def passed(looks, moment):
    """Whether it was asked more often than that."""
    return next(looks) > moment


def test_an_interrupted_search_says_what_it_knows_and_goes_on_to_the_same(tmp_path):
    question = random_question(4)
    whole, best = codesign(question), min(brute_force(question))
    assert whole.best is not None
    for moment in (3, 40, 150):
        options = SolveOptions(stop=partial(passed, iter(range(10**9)), moment))
        stopped = CodesignOptions(options, store=Store(tmp_path / "kept"))
        part = codesign(question, stopped)
        bound = part.certificate.lower_bound
        assert bound is None or bound <= best[0]
        assert part.best is None or part.best.values >= best
        assert part.complete or part.open
        assert all(
            box.lower_bounds[0] is None or bound is None or box.lower_bounds[0] >= bound
            for box in part.open
        )
    assert timeless(
        codesign(question, CodesignOptions(store=Store(tmp_path / "kept")))
    ) == timeless(whole)


@pytest.mark.parametrize("seed", [1, 10, 13])
def test_an_interrupted_front_is_not_claimed_to_be_whole(seed):
    question = random_question(seed)
    assert len(question.objectives) > 1
    expected = sorted(brute_force(question))
    for moment in range(0, 240, 12):
        part = codesign(
            question,
            CodesignOptions(SolveOptions(stop=partial(passed, iter(range(10**9)), moment))),
        )
        whole = [point.values for point in part.front] == expected
        assert part.complete == (part.certificate.status is Status.OPTIMAL)
        assert not part.complete or (whole and not part.open)


def test_starts_are_incumbents_and_change_no_answer():
    question = random_question(4)
    whole, every = (
        codesign(question),
        [point for point in points(question) if question.space.allows(point)],
    )
    started = codesign(
        question, CodesignOptions(starts=(*every[:3], Configuration({"nothing": 1})))
    )
    assert [p.values for p in started.front] == [p.values for p in whole.front]
    nothing = CodesignOptions(SolveOptions(stop=lambda: True), starts=tuple(every))
    assert (
        codesign(question, nothing).best is None
        or codesign(question, nothing).certificate.status is Status.FEASIBLE
    )


#: Objectives and limits that fall as metrics of layers, or of the hardware, grow.
FALLING = (
    "energy/latency",
    "0 - latency",
    "latency - energy/9",
    "energy - area*latency",
    "0 - area",
    "traffic - latency",
)


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(n, marks=pytest.mark.slow) for n in range(6, 100))]
)
def test_what_falls_as_metrics_grow_is_that_of_enumeration(seed):
    draw, drawn = Random(seed), random_question(seed)

    def asking(objective, limits):
        return make_question(drawn.space, drawn.works[:2], [objective], limits)

    limits = {}
    for text in draw.sample(FALLING, draw.choice((0, 1, 1))):
        least = min(brute_force(asking(text, {})), default=(Fraction(0),))[0]
        limits |= (
            {text: least + draw.choice((-1, 0, 5, 40))}
            if text != "energy/latency"
            else {text: abs(least) * 2}
        )
    question = asking(draw.choice((*FALLING, "energy")), limits)
    result, expected = codesign(question), brute_force(question)
    assert [point.values for point in result.front] == sorted(expected)[:1]
    assert result.certificate.status is (Status.OPTIMAL if expected else Status.INFEASIBLE)
    for fall in result.shortfalls if len(question.workloads) == 1 else ():
        alone = [replace(work, weight=Fraction(1)) for work in question.works]
        others = {
            limit.metric: limit.bound for limit in question.limits if limit.metric != fall.metric
        }
        assert [fall.smallest] == [
            v[0] for v in brute_force(make_question(drawn.space, alone, [fall.metric], others))
        ]


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(n, marks=pytest.mark.slow) for n in range(6, 100))]
)
def test_every_limit_that_takes_the_best_away_leaves_that_of_enumeration(seed):
    """Again and again a limit just below what the optimum takes of something; layers' optima are
    kept from one to the next."""
    draw, drawn, limits = Random(seed), random_question(seed), dict[str, Fraction]()
    works, bank = drawn.works[:2], make_bank(drawn, CodesignOptions())
    for _ in range(5):
        question = make_question(drawn.space, works, [drawn.objectives[0].text], limits)
        result, expected = codesign(question, bank=bank), brute_force(question)
        assert [point.values for point in result.front] == sorted(expected)[:1]
        assert result.certificate.status is (Status.OPTIMAL if expected else Status.INFEASIBLE)
        if result.best is None:
            return
        metric, taken = (
            draw.choice(("area", "price", "latency", "energy", "traffic")),
            dict[str, Fraction](),
        )
        for work, solution in zip(works, result.best.layers, strict=True):
            run = result.best.costs.get(metric)
            taken[work.workload] = (
                run or taken.get(work.workload, Fraction(0)) + work.count * solution.metrics[metric]
            )
        limits[metric] = max(taken.values()) - Fraction(1, 1000)


def points(asked):
    """All accelerators."""
    names = [quantity.name for quantity in asked.space.quantities]
    for values in product(*(quantity.values for quantity in asked.space.quantities)):
        yield Configuration(dict(zip(names, values, strict=True)))


def of_latency(seed):
    """A random question for the least sum of latencies, without limits."""
    asked = replace(
        random_question(seed), objectives=(Objective("latency", expression("latency")),), limits=()
    )
    return replace(
        asked,
        works=tuple(replace(work, workload="one", weight=Fraction(1)) for work in asked.works),
    )


def assert_open(asked, limits):
    """Without time, no limit of an infeasible question is said not to help, though the last one
    alone would."""
    asked = replace(asked, limits=limits)
    falls = shortfalls(
        asked, make_bank(asked, CodesignOptions()), SolveOptions(time_limit=0.0), InProcess()
    )
    assert all(fall.smallest is None or not fall.proven for fall in falls)
    said = "; ".join(explain(falls, len({fall.design for fall in falls})))
    assert (
        f"whether raising {' or '.join(limit.metric for limit in limits)} alone would do is open"
        in said
    )
    assert CONTRADICTION not in said


@pytest.mark.parametrize("seed", range(100, 106))
def test_the_least_of_each_budget_is_named(seed):
    asked = of_latency(seed)
    areas = [
        asked.space.cost(point)["area"] for point in points(asked) if asked.space.allows(point)
    ]
    least = min(brute_force(asked), default=(Fraction(0),))[0]
    if not areas:
        result = codesign(replace(asked, limits=(Limit("area", Fraction(100)),)))
        assert (result.certificate.status, result.shortfalls) == (Status.INFEASIBLE, ())
        return
    below = Limit("area", min(areas) - Fraction(1, 2)), Limit("latency", least - 1)
    for limit, smallest, name in ((below[0], min(areas), "toy"), (below[1], least, "one")):
        for others in ((), (Limit("price", Fraction(100)),)):
            result = codesign(replace(asked, limits=(limit, *others)))
            (fall,) = result.shortfalls
            assert (fall.metric, fall.smallest, fall.proven, fall.others_kept) == (
                limit.metric,
                smallest,
                True,
                True,
            )
            assert fall.design == name
        assert codesign(replace(asked, limits=(Limit(limit.metric, smallest),))).best is not None
    assert_open(asked, (Limit("price", Fraction(100)), below[1]))
    both = codesign(replace(asked, limits=below))
    assert {(f.metric, f.smallest, f.others_kept) for f in both.shortfalls} == {
        ("area", min(areas), False),
        ("latency", least, False),
    }
    assert all(f"limit {metric} =" in both.failure for metric in ("area", "latency"))


@pytest.mark.parametrize(
    ("machine", "edition", "figure", "values", "objective"),
    [
        ("hasco-gemm", "intrinsic", "Local.words", "[2, 4]", "latency"),
        ("explainable-edge", "explainable", "SPM.words", "[2048, 4096]", "latency"),
        (
            "dmazerunner-256",
            "dmazerunner",
            "bursts.bank_words",
            "[16384, 32768]",
            "energy - latency",
        ),
    ],
)
def test_layers_that_fit_nowhere_are_infeasible(
    machine, edition, figure, values, objective, tmp_path
):
    path = tmp_path / "tight.yaml"
    path.write_text(
        f"name: tight\narchitecture: {machine}\nedition: {edition}\nquantities: {{n: {values}}}\nfigures: {{{figure}: n}}\n"
    )
    asked = make_question(find_space(str(path)), find_workloads(["mm"]), [objective])
    assert codesign(asked).certificate.status is Status.INFEASIBLE
