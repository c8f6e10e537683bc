"""Other search methods behind one interface, to measure against the proven optimum.

`run_peer` runs a method by name on a problem, within a `Budget` of samples, of seconds, or of both,
and returns a `Trace`: the best value after every sample and every second. The methods differ in how
they choose configurations and in nothing else:

- **One objective** (`evaluator`). Every configuration is scored by the one cost model; every
  improvement is confirmed by the Fraction reference before it counts. Methods that take constraints
  get the excess over the limits, the others one graded cost: infeasible ones above all feasible
  ones, the more the farther they are from the limits.
- **One set of coordinates** (`coordinates`): the free quantities of the space by their logarithms,
  powers of two by their exponents (lanes and t2 of each loop, SIMD factor, packs). Any values
  decode to a configuration of the design space, and neighbours are alike. The parameters of start
  populations (`exports.seeds.parameters`: t1 and t2, linear) are for people to read; a search among
  them wastes most of its samples on t2 near t1, which are arrays of one lane.
- **One currency.** A sample is a configuration scored. What a method asks for again is answered
  from memory at no charge, and a method that asks for nothing new any more is started afresh with
  another seed. Seconds are all that pass, the method's own overhead included; only the import of
  its library is not counted.

The budget in samples is never exceeded. That in seconds is checked before samples are scored: a
method that thinks for long may end late, and its trace says when. The same seed and the same budget
in samples give the same trace, clock times aside.

Two entries are Ithaca's own. ``exact`` counts boxes as samples: one box is one evaluation of the
cost model on intervals; the coordinate descents that give it incumbents are not counted. ``evolve``
starts from geometric programs; what these are rounded with is not counted as samples, only in
seconds. ``evolve-unseeded`` knows as little as the other methods do. So compare ``exact`` and
``evolve`` with the others in seconds.

Searches of hardware spaces (`hardware_methods`) are asked by co-design, whose evaluator they take:
at an accelerator every layer has its proven best mapping, so that they differ in the accelerators
that they look at alone.
"""
