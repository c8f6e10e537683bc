"""Networks run cycle by cycle, as slowly and plainly as can be: what the engine is compared
with."""

from fractions import Fraction

from ithaca.formulations.processes import Meet, Repeat

#: Cycles after which nothing happens any more if nothing happened: longer than any latency, entry
#: or interval of a test.
QUIET = 200


class _Process:
    def __init__(self, steps, begin):
        self.actions = _actions(steps, {})
        self.clock = begin
        self.now = next(self.actions, None)
        self._enter()

    def advance(self, clock):
        self.clock = clock
        self.now = next(self.actions, None)
        self._enter()

    def _enter(self):
        while self.now is not None and self.now[0] == "entry":
            self.clock += self.now[1]
            self.now = next(self.actions, None)


def _actions(steps, runs):
    for step in steps:
        if isinstance(step, Repeat):
            for _ in range(step.times):
                yield from _actions(step.body, runs)
        elif isinstance(step, Meet):
            yield ("meet", step.barrier, step.cycles)
        else:
            words = step.words if isinstance(step.words, int) else step.words[runs.get(id(step), 0)]
            runs[id(step)] = runs.get(id(step), 0) + 1
            if words:
                yield ("entry", step.entry)
            for _ in range(words):
                assert isinstance(step.interval, int)
                yield ("turn", step)


def run_stepping(network):
    """The last cycle of any process, and whether all ended."""
    held = {fifo.name: [] for fifo in network.fifos}  # when each word inside entered
    freed = {fifo.name: 0 for fifo in network.fifos}  # words taken in this very cycle: no room yet
    kind = {fifo.name: fifo for fifo in network.fifos}
    processes = [_Process(process.steps, process.begin) for process in network.processes]
    memory = [process.memory for process in network.processes]
    refresh = network.refresh
    cycle = last = 0
    while any(process.now is not None for process in processes) and cycle < last + QUIET:
        met = True
        while met:
            met = False
            waiting = {}
            for process in processes:
                if process.now is not None and process.now[0] == "meet":
                    other = waiting.pop(process.now[1], None)
                    if other is None:
                        waiting[process.now[1]] = process
                    else:
                        assert other.now is not None
                        together = max(process.clock, other.clock) + process.now[2]
                        process.advance(together)
                        other.advance(together)
                        last = max(last, cycle)
                        met = True
        freed = dict.fromkeys(freed, 0)
        entering = []
        for process, waits in zip(processes, memory, strict=True):
            if process.now is None or process.now[0] != "turn" or process.clock > cycle:
                continue
            if waits and refresh is not None and cycle % refresh.period < refresh.cycles:
                continue
            loop = process.now[1]
            ready = all(held[f] and held[f][0] + kind[f].latency <= cycle for f in loop.reads)
            room = all(
                len(held[f]) + freed[f] + entering.count(f) < kind[f].capacity for f in loop.writes
            )
            if not (ready and room):
                continue
            for fifo in loop.reads:
                held[fifo].pop(0)
                freed[fifo] += 1
            entering += loop.writes
            assert not isinstance(loop.interval, Fraction)
            process.advance(cycle + int(loop.interval))
            last = cycle
        for fifo in entering:
            held[fifo].append(cycle)
        cycle += 1
    return max(process.clock for process in processes), all(
        process.now is None for process in processes
    )
