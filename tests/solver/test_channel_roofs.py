"""Channels of memory in bounds: only where the cost model charges them."""

import pytest

import ithaca
from ithaca.formulations.space import Axis, Quantity
from ithaca.solver.tables.affordable import needed_axes

#: Channels of 5 bytes a second for each cycle: far narrower than a DRAM port.
NARROW = """\
name: narrow
resources: {dsp: {total: 60, usable: 1.0}, bram18k: {total: 100, usable: 1.0}}
memory: {channels: 5, bandwidth: 1.5}
"""


@pytest.mark.parametrize("permutation", "AB")
def test_arrays_whose_data_do_not_lie_as_they_are_read_are_bounded_without_channels(
    permutation, tmp_path
):
    """Partial sums that are copied in: the cost model charges neither packs nor channels there,
    and a bound that does was above optima."""
    (tmp_path / "narrow.yaml").write_text(NARROW)
    words = {
        "sizes": {"i": 2, "j": 64, "k": 64},
        "edition": "exact",
        "include_unbuildable": True,
        "permutation": permutation,
        "dataflow": "j,k",
        "divisors_only": True,
        "platform": tmp_path / "narrow.yaml",
        "limit": "bram18k=none,bandwidth=none,dsp=none",
    }
    free = ithaca.solve("mm", **words)
    held = ithaca.solve("mm", ports=1, **words)
    assert held.value == free.value
    assert held.lower_bound <= held.value
    assert held.best.problem.floor <= free.value


class _Needy:
    """A problem that says what its hardware needs."""

    def __init__(self, needed):
        self.needed_of = needed
        self.design, self.objective = self, self
        from ithaca.formulations.algebra.expression import Symbol

        self.expression = Symbol("latency")

    def needed(self, name, value):
        return self.needed_of


def test_more_than_there_may_be_leaves_all_values():
    axis = Axis("ports", (Quantity("ports.A", 1, 3),))
    (same,) = needed_axes(_Needy({"ports.A": 4}), (axis,), 1)
    assert same.quantities == axis.quantities
    (fewer,) = needed_axes(_Needy({"ports.A": 2}), (axis,), 1)
    assert (fewer.quantities[0].low, fewer.quantities[0].high) == (2, 3)
