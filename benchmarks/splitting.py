"""Speed-up of one search that workers share: ``python -m benchmarks.splitting [--case WORD]
[--threads N] [--workers N]``.

Every case is one search: of a single design, of one array or several for the layers of a network,
or of an accelerator from a hardware space. Its jobs are run in this process, one after the other, and measured by the processor's clock, so that what
else runs does not count: CPU seconds of each, bytes of what it is sent and of what it sends back,
and of what is sent to each worker once. From these follows how long so many workers take: in each
round the next job goes to whoever is idle, at so many bytes and messages a second, and what this
process does itself comes on top. That is an estimate. With ``--threads`` the same is run by so many
processes: their CPU seconds beside those without, and the seconds that passed, of which a loaded
machine makes more. Last comes what 100 machines would give where layers and accelerators are many:
an estimate, too, with its arithmetic.
"""

from __future__ import annotations

import argparse
import pickle
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heapreplace
from typing import Any

from ithaca.formulations.data_types import data_type
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.plugins.codesign.formulations.files import find_space
from ithaca.plugins.codesign.studies.arrays.arrays import MULTI_ARRAY, SHARED_ARRAY, on_arrays
from ithaca.plugins.codesign.studies.arrays.pipeline import PipelineSearch
from ithaca.plugins.codesign.studies.arrays.search import SharedSearch
from ithaca.plugins.codesign.studies.codesign import CodesignOptions, make_bank
from ithaca.plugins.codesign.studies.question import make_question
from ithaca.plugins.codesign.studies.search import BoxSearch
from ithaca.plugins.codesign.studies.workloads import find_workloads
from ithaca.plugins.codesign.workloads.folding import fold
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.executor import InProcess, Job, Outcomes, Share, T, Tell, taken_apart
from ithaca.solver.options import SolveOptions
from ithaca.solver.processes import Processes
from ithaca.solver.splitting import Helpers
from ithaca.studies.network.problems import only_layers
from ithaca.workloads.library import workload
from ithaca.workloads.networks.find import find_network

#: Workers that estimates are made for.
WORKERS = (1, 2, 4, 16, 100, 1600)

#: Seconds of a message to a worker and back (a Dask scheduler has a few thousand tasks a second),
#: and bytes a second to all of them.
MESSAGE, RATE = 1e-3, 1e8


#: Seconds of a layer problem of co-design, and how many each layer has, as of the first example of
#: `docs/co-design.md`: 50 problems of 2 layers on 49 accelerators in 17.28 s.
SECONDS, EACH_LAYER = 0.35, 25


@dataclass
class Measuring(InProcess):
    """Runs jobs here, as many workers would be given them, and measures each."""

    width: int = 2  # type: ignore[misc]
    rounds: list[list[float]] = field(default_factory=list)
    """CPU seconds of every job, by round."""
    sent: int = 0
    """Bytes of all jobs."""
    returned: int = 0
    """Bytes of all outcomes."""
    once: dict[int, int] = field(default_factory=dict)
    """Bytes of what jobs share, by what it is."""
    spent: float = 0.0
    """CPU seconds of measuring."""

    def _run(
        self, jobs: Sequence[Job[T]], chosen: Sequence[int], share: Share, tell: Tell
    ) -> Outcomes[T]:
        self.rounds.append([])
        for index in chosen:
            began = time.process_time()
            job, common = taken_apart(jobs[index])
            if common is not None and id(common) not in self.once:
                self.once[id(common)] = len(pickle.dumps(common))
            self.sent += len(pickle.dumps(job))
            self.spent += time.process_time() - began
            began = time.process_time()
            (outcome,) = super()._run(jobs, [index], share, tell)
            self.rounds[-1].append(time.process_time() - began)
            began = time.process_time()
            self.returned += len(pickle.dumps(outcome))
            self.spent += time.process_time() - began
            yield outcome

    @property
    def jobs(self) -> int:
        """The number of jobs."""
        return sum(map(len, self.rounds))

    def estimate(self, workers: int, alone: float) -> float:
        """Seconds that so many workers take, with those that this process needs itself."""
        # workers hand on to each other what jobs share: twice as many have it each time
        total = alone + sum(self.once.values()) * workers.bit_length() / RATE
        moved = (self.sent + self.returned) / max(self.jobs, 1) / RATE + MESSAGE
        for jobs in self.rounds:
            busy = [0.0] * workers
            heapify(busy)
            for place, seconds in enumerate(jobs, 1):
                # what is sent leaves this process one after the other
                heapreplace(busy, max(busy[0], place * moved) + seconds)
            total += max(busy)
        return total


def single(sizes: tuple[int, int, int], objective: str) -> Callable[[Helpers | None], Any]:
    """A search for the best configuration of a product, on one design."""
    nest = workload("mm", dict(zip("ijk", sizes, strict=True)))
    (problem,) = question(objective, dataflow=("i", "j")).problems(nest)

    def run(helpers: Helpers | None) -> Any:
        solution = solve_exact(problem, SolveOptions(helpers=helpers))
        return solution.value, solution.configuration, solution.certificate.lower_bound

    return run


def shared(name: str, layers: Sequence[str]) -> Callable[[Helpers | None], Any]:
    """A search for one array for layers of a network."""
    network = fold(only_layers(find_network(name, {}), layers))
    designs, _ = on_arrays(network, question("latency"), SHARED_ARRAY)

    def run(helpers: Helpers | None) -> Any:
        outcome = SharedSearch(designs, SolveOptions(helpers=helpers)).run()
        return outcome.value, outcome.lower_bound, outcome.examined, outcome.stages

    return run


def several(name: str, layers: Sequence[str], arrays: int) -> Callable[[Helpers | None], Any]:
    """A search for arrays that work side by side on layers of a network."""
    network = fold(only_layers(find_network(name, {}), layers))
    request = replace(question("latency"), arrays=arrays)
    designs, sequence = on_arrays(network, request, MULTI_ARRAY)

    def run(helpers: Helpers | None) -> Any:
        options = SolveOptions(helpers=helpers)
        outcome = PipelineSearch(
            designs, sequence, arrays, request.minimise, options, request.shares
        ).run()
        return outcome.value, outcome.lower_bound, outcome.stages

    return run


def codesigned(name: str, works: Sequence[str]) -> Callable[[Helpers | None], Any]:
    """A search for an accelerator of a hardware space for the layers of networks.

    What it examines depends on how many layers are solved at a time; its answer does not.
    """
    space = find_space(name)
    inquiry = make_question(
        space, find_workloads(works), [space.objective or "latency"], space.limits
    )

    def run(helpers: Helpers | None) -> Any:
        bank = make_bank(inquiry, CodesignOptions())
        executor = None if helpers is None else helpers.executor
        result = BoxSearch(inquiry, bank, executor=executor).run()
        return result.value, result.certificate.lower_bound

    return run


def question(objective: str, dataflow: tuple[str, ...] | None = None) -> ArrayQuestion:
    """A question in fp32 on the U250, as the command line puts it."""
    return ArrayQuestion(
        data=replace(data_type("fp32"), as_built=True),
        edition=Edition.CYCLE,
        platform=load_platform("u250"),
        objective=parse_objective(objective),
        dataflow=dataflow,
    )


CASES: dict[str, Callable[[], Callable[[Helpers | None], Any]]] = {
    "mm 192³, power": lambda: single((192, 192, 192), "power"),
    "alexnet, shared array": lambda: shared("alexnet", ["conv*"]),
    "alexnet, two arrays": lambda: several("alexnet", ["conv*"], 2),
    "explainable-edge, resnet18": lambda: codesigned("explainable-edge", ["resnet18"]),
}


def cpu() -> float:
    """CPU seconds of this process and of those of its children that have ended."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(who)[:2]) for who in both)


def report(name: str, run: Callable[[Helpers | None], Any], threads: int, width: int) -> None:
    """Measure one case, and print it.

    Parameters
    ----------
    name : str
        The case.
    run : Callable
        Solves it, alone or with workers to help, and says all that it came to.
    threads : int
        Processes to run it by, too.
    width : int
        Workers that a search counts on: how much it asks for at once.
    """
    print(f"\n{name}", flush=True)
    began = cpu()
    alone = run(None)
    plain = cpu() - began
    executor, began = Measuring(width), cpu()
    split = run(Helpers(executor))
    whole = cpu() - began - executor.spent
    assert split == alone
    inside = sum(map(sum, executor.rounds))
    if not executor.jobs:
        print(f"  {plain:.1f} CPU s, not split")
        return
    print(
        f"  {plain:.1f} CPU s in this process; {whole:.1f} in {executor.jobs} jobs "
        f"({inside:.1f}, {len(executor.rounds)} rounds) and between them"
    )
    print(
        f"  bytes: {executor.sent / executor.jobs:,.0f} to a job, "
        f"{executor.returned / executor.jobs:,.0f} back, "
        f"{sum(executor.once.values()):,} to each worker once"
    )
    between = whole - inside
    estimates = {n: executor.estimate(n, between) for n in WORKERS}
    for what, before, rest in (("of all", plain, 0.0), ("of the jobs", inside, between)):
        words = ", ".join(f"{n}: {before / (s - rest):.1f}" for n, s in estimates.items())
        print(f"  estimated times as fast {what}, by workers: {words}")
    if threads > 1:
        began, clock = cpu(), time.perf_counter()
        with Processes(threads) as processes:
            assert run(Helpers(processes)) == alone
            passed = time.perf_counter() - clock
        print(f"  {threads} processes: {cpu() - began:.1f} CPU s, {passed:.1f} s passed")


def scale(layers: int, accelerators: int, machines: int, cores: int = 16) -> None:
    """Print an estimate of co-design on many machines, with its arithmetic.

    Parameters
    ----------
    layers : int
        Layers that differ.
    accelerators : int
        Accelerators of the space.
    machines : int
        Machines.
    cores : int, optional
        Workers of each.
    """
    workers = machines * cores
    print(f"\nestimate: {layers:,} layers, {accelerators:,} accelerators, {workers:,} workers")
    print(f"  a layer on an accelerator: {SECONDS} s, a message {1e3 * MESSAGE:.0f} ms")
    for what, each in (
        ("no box but the whole and the best", 2),
        (f"as of the space measured, {EACH_LAYER} a layer", EACH_LAYER),
        ("all, none excluded", accelerators),
    ):
        problems = layers * each
        busy, told = problems * SECONDS / workers, problems * MESSAGE
        print(
            f"  {what}: {problems:,} problems; {busy:,.0f} s of workers, {told:,.0f} s of one "
            f"scheduler: {max(busy, told):,.0f} s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", default="", help="only cases with this in their name")
    parser.add_argument("--threads", type=int, default=1, help="processes to run them by, too")
    parser.add_argument("--workers", type=int, default=2, help="workers that searches count on")
    options = parser.parse_args()
    for name, make in CASES.items():
        if options.case in name:
            report(name, make(), options.threads, options.workers)
    scale(10_000, 1_000_000, 100)


if __name__ == "__main__":
    main()
