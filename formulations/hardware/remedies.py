"""Rules of guided search: by how much to raise a figure of the hardware where costs bind.

From S. Dave, T. Nowatzki, A. Shrivastava, "Explainable-DSE" (ASPLOS 2023). With s, the binding part
over the next one: PEs and bandwidths times s; widths and links the same up to what one transfer can
use; capacities by the data that has to stay for a tensor to be reused s times as often. Where a
tensor is a share f of what binds, it has to be reused A times as often for the whole to shrink s
times, s = 1 / (1 − f + f / A).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import FRACTION


@dataclass(frozen=True, slots=True)
class Remedy:
    """A figure to raise.

    A plain one grows s times. One with ``grows`` is a capacity: Σ data(i) · target / available
    reuse(i), where the loops that reuse the binding tensor grow by the target; they reuse that one
    as much (its data stays) and index all others.
    """

    figure: str
    """Its name, as of the accelerator's figures."""
    most: Fraction | None = None
    """Beyond this it does nothing for the part."""
    stays: Fraction = Fraction(0)
    """The part of it that the binding tensor takes."""
    grows: Fraction | None = None
    """The part of it that all others take; None: it is no capacity."""
    reuse: Fraction | None = None
    """The largest reuse that is left for the tensor; None: no end."""
    stated: Expression | None = None
    """The value itself, over ``now``, ``s`` and ``f``, where somebody states it; 0 or less has no
    end."""

    def predicted(self, now: Fraction, ratio: Fraction | None, share: Fraction) -> Fraction | None:
        """The value of the figure for which the part shrinks ``ratio`` times.

        Where A diverges (nothing that this tensor does suffices) all its reuse is asked for; where
        f is 1, A is s.

        Parameters
        ----------
        now : Fraction
            The value of the figure now.
        ratio : Fraction, optional
            s, the binding part over the next one; None where there is no next one.
        share : Fraction
            f, the share of the tensor that a capacity is for.

        Returns
        -------
        Fraction, optional
            The value; None where it has no end.
        """
        if self.stated is not None:
            known = {"now": now, "f": share} | ({} if ratio is None else {"s": ratio})
            try:
                value = Fraction(self.stated.evaluate(known, FRACTION))
            except (KeyError, ZeroDivisionError):  # nothing comes next, or it diverges
                return None
            return value if value > 0 else None
        if self.grows is not None:
            target = min(
                (bound for bound in (self.reuse, amdahl(ratio, share)) if bound is not None),
                default=None,
            )
            return None if target is None else self.stays + self.grows * target
        raised = None if ratio is None else now * ratio
        return min((bound for bound in (raised, self.most) if bound is not None), default=None)


def amdahl(ratio: Fraction | None, share: Fraction) -> Fraction | None:
    """A = s·f / (1 − s + s·f).

    None where it diverges: the rest alone is more than the whole may be.
    """
    if ratio is None or (left := 1 - ratio + ratio * share) <= 0:
        return None
    return ratio * share / left
