"""What-ifs of networks: the question of every point of a grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from ithaca.commands.api.keywords import FamilyOptions
from ithaca.commands.api.live_line import note, searching
from ithaca.commands.api.network_options import (
    NetworkOptions,
    parse_proving_method,
    parse_steady_method,
)
from ithaca.commands.api.networks import progress_on, running_networks
from ithaca.commands.api.options import Keeping, SearchOptions
from ithaca.commands.api.parsing import (
    parse_extent,
    parse_method,
)
from ithaca.commands.api.vary import ReadAxis, parse_variations, varied
from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.files.words import assignments, parse_number, several
from ithaca.formulations.design import Metric
from ithaca.formulations.problem import Objective
from ithaca.results.network_studies import MODE, PHASE, check_prices
from ithaca.studies.grid import StudyAxis
from ithaca.studies.network.asking import NetworkQuestion
from ithaca.studies.network.front import NetworkFront, check_sums, network_front
from ithaca.studies.network.modes import MODES
from ithaca.studies.network.products import check_products, factors_of
from ithaca.studies.network.runner import RunOptions
from ithaca.studies.network.study import NetworkStudy, run_network_study
from ithaca.studies.network.totals import require_sum
from ithaca.workloads.networks.network import Network


@dataclass(frozen=True)
class NetworkTerms:
    """All that a question about a network states, but for what varies."""

    source: object
    """Its name or file."""
    sizes: Mapping[str, int]
    """Parameters that were stated."""
    shared: NetworkOptions
    family: FamilyOptions
    objective: str | Objective | None
    method: str | None
    search: SearchOptions
    keeping: Keeping

    def network(self, sizes: Mapping[str, int] | None = None, phase: str | None = None) -> Network:
        """The network, with other sizes, or in another phase."""
        formats = self.family.words.get("format")
        return self.shared.network(self.source, {**self.sizes, **(sizes or {})}, phase, formats)

    @property
    def options(self) -> RunOptions:
        """Options of each run: only the best design of each layer is proven."""
        engine = parse_method(self.method or "auto")
        if self.family.kind().steady:
            engine = parse_steady_method(self.method, self.search.time_limit)
        return RunOptions(engine, self.search.options, self.search.workers, best_only=True)


def network_whatif(
    terms: NetworkTerms,
    vary: Mapping[str, Sequence[Any]] | Sequence[str],
    percent: Fraction | None,
    price: Mapping[str, float] | Sequence[str] | None,
    before: Callable[[Sequence[StudyAxis]], None] | None,
) -> NetworkStudy:
    """Answer a question about a network at every point of a grid.

    Parameters
    ----------
    terms : NetworkTerms
        What is the same at all points.
    vary : mapping of str to sequence of object or sequence of str
        Words such as ``platform=u250,u55c``, or values by name.
    percent : Fraction, optional
        By how much limits are raised for their marginal values (%).
    price : mapping of str to float or sequence of str, optional
        Prices of devices.
    before : callable, optional
        Hears of the axes before anything is solved, and may refuse them.
    """
    question = terms.shared.question(terms.family, terms.objective)
    layered = terms.network()
    modes = tuple(MODES)

    def in_mode(parts: Sequence[Any]) -> StudyAxis:
        for part in parts:
            if part not in modes:
                raise InputError(f"{quoted(str(part))} is no mode{among(str(part), modes)}")
        return StudyAxis(MODE, tuple(map(str, parts)), meaning="what layers share")

    own: dict[str, ReadAxis] = {name: _size(name, terms) for name, _ in layered.parameters}
    own[MODE] = in_mode
    if layered.run is not None:
        own[PHASE] = lambda parts: StudyAxis(
            PHASE, tuple(map(str, parts)), meaning="phase of the model"
        )
    named = {name for name in question.variables if f"--{name}" in terms.family.stated.values()}
    fixed = {*terms.sizes, *question.bounds, *named}
    fixed |= {PHASE} if terms.shared.phase is not None else set()
    variations = parse_variations(vary, question, layered.layers[0].nest, fixed, own)
    axes = [each.axis for each in variations]
    prices = parse_prices(price)
    check_prices(prices, tuple(axes))
    if before is not None:
        before(axes)

    @cache
    def network_of(sizes: tuple[tuple[str, int], ...], phase: str | None) -> Network:
        return terms.network(dict(sizes), phase)

    def pose(values: Mapping[str, Any]) -> NetworkQuestion:
        one, ours = varied(question, variations, values)
        mode, phase = ours.pop(MODE, terms.shared.mode), ours.pop(PHASE, None)
        terms.shared.check_mode(mode, terms.method, terms.keeping)
        if factors_of(one.objective) is None:
            check_products(one.objective)
            require_sum(one.objective, "a study of a network")
        return NetworkQuestion(network_of(tuple(ours.items()), phase), one, mode, terms.shared.fuse)

    for line in (*layered.remarks, *question.remarks(None)):
        note(line)
    with running_networks(terms.options, terms.keeping) as run:
        return run_network_study(axes, pose, run, percent=percent, prices=prices)


def network_pareto(
    terms: NetworkTerms,
    read: Callable[[Mapping[str, Metric]], tuple[Objective, ...]],
    before: Callable[[Sequence[Objective]], None] | None,
) -> NetworkFront:
    """The front of a network's totals.

    Parameters
    ----------
    terms : NetworkTerms
        What is stated of the network.
    read : callable
        Reads what is minimised, given the metrics that there are.
    before : callable, optional
        Hears of the objectives before anything is solved, and may refuse them.
    """
    engine = parse_proving_method(terms.method)
    question, network = terms.shared.question(terms.family, None), terms.network()
    wanted = read(question.vocabulary(network.layers[0].nest))
    check_sums(wanted)
    question = question.minimising(wanted[0])
    for remark in (*network.remarks, *question.remarks(None)):
        note(remark)
    if before is not None:
        before(wanted)
    search, threads = terms.search.options, terms.search.workers
    with (
        terms.keeping.store(search) as store,
        searching("building problems", search) as (stoppable, line),
    ):
        run = RunOptions(engine, stoppable, threads, report=progress_on(line))
        return network_front(network, question, wanted, run, store)


def _size(name: str, terms: NetworkTerms) -> ReadAxis:
    def read(parts: Sequence[Any]) -> StudyAxis:
        values = tuple(parse_extent(name, part) for part in parts)
        return StudyAxis(name, values, meaning=f"{name} of the network")

    return read


def parse_prices(words: Mapping[str, float] | Sequence[str] | None) -> dict[str, Fraction]:
    """Prices by name, from words such as ``u250=9000,u55c=4400``, or by name."""
    pairs: Iterable[tuple[str, Any]] = (
        words.items()
        if isinstance(words, Mapping)
        else assignments("--price", several(words), "u250=9000,u55c=4400")
    )
    return {
        str(name): Fraction(repr(parse_number(f"--price {name}", value, positive=True)))
        for name, value in pairs
    }
