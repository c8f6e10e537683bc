"""Logic of Pyomo models: Boolean variables, logical constraints, disjunctions and special ordered
sets, as constraints over binary variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.monotonicity import bounds
from ithaca.solver.engines import NotExpressibleError

#: Kinds of components that say something of others by binary variables.
LOGIC = frozenset({"BooleanVar", "LogicalConstraint", "Disjunct", "Disjunction", "SOSConstraint"})


def without_logic(model: Any) -> Any:
    """A copy of a model whose logical constraints and special ordered sets are linear constraints;
    the model itself where it has no logic.

    Raises `NotExpressibleError` at what has no such form.
    """
    import pyomo.environ as pyo

    if not any(component.ctype.__name__ in LOGIC for component in model.component_objects()):
        return model
    for boolean in model.component_data_objects(pyo.BooleanVar):
        binary = boolean.get_associated_binary()
        if binary is not None and not binary.is_binary():
            raise NotExpressibleError(
                f"CP-SAT: {boolean.name} of the Pyomo model stands for {binary.name}; allowed: "
                "a binary variable"
            )
    plain = model.clone()
    for component in [*plain.component_objects(pyo.SOSConstraint, active=True)]:
        for data in component.values():
            if data.active:
                _one_of(plain, data)
        component.deactivate()
    try:
        pyo.TransformationFactory("contrib.logical_to_disjunctive").apply_to(plain)
    except Exception as error:  # Pyomo's own, of many kinds
        why = " ".join(str(error).split())
        raise NotExpressibleError(
            f"CP-SAT: the logic of the Pyomo model has no linear form ({why})"
        ) from None
    return plain


def _one_of(model: Any, ordered: Any) -> None:
    """State that at most one variable of a set is not 0."""
    import pyomo.environ as pyo
    from pyomo.common.modeling import unique_component_name

    if ordered.level != 1:
        raise NotExpressibleError(
            f"CP-SAT: {ordered.name} of the Pyomo model is an SOS{ordered.level}; allowed: SOS1"
        )
    members = [*ordered.get_variables()]
    own = pyo.Block()
    model.add_component(unique_component_name(model, "one_of"), own)
    own.chosen = pyo.Var(range(len(members)), domain=pyo.Binary)
    own.rules = pyo.ConstraintList()
    own.rules.add(sum(own.chosen.values()) <= 1)
    for place, member in enumerate(members):
        if member.lb is None or member.ub is None:
            raise NotExpressibleError(
                f"CP-SAT: variable {member.name} of {ordered.name} has no bounds; allowed: "
                "integers between finite bounds"
            )
        if member.ub > 0:
            own.rules.add(member <= member.ub * own.chosen[place])
        if member.lb < 0:
            own.rules.add(member >= member.lb * own.chosen[place])
        if member.lb > 0 or member.ub < 0:
            own.rules.add(own.chosen[place] == 1)


def active_disjuncts(model: Any) -> list[Any]:
    """The disjuncts of a model that may be chosen, also those within others.

    Raises `NotExpressibleError` where one is in no disjunction, or neither active nor excluded.
    """
    import pyomo.environ as pyo
    from pyomo.gdp import Disjunct

    within = (pyo.Block, Disjunct)
    listed = {id(disjunct) for each in _disjunctions(model) for disjunct in each.disjuncts}
    active = [*model.component_data_objects(Disjunct, active=True, descend_into=within)]
    for disjunct in active:
        if id(disjunct) not in listed:
            raise NotExpressibleError(
                f"CP-SAT: {disjunct.name} of the Pyomo model is in no disjunction; allowed: "
                "disjuncts that are, or are deactivated"
            )
    return active


def _disjunctions(model: Any) -> list[Any]:
    import pyomo.environ as pyo
    from pyomo.gdp import Disjunct, Disjunction

    within = (pyo.Block, Disjunct)
    return [*model.component_data_objects(Disjunction, active=True, descend_into=within)]


def disjunctions(model: Any) -> Iterator[tuple[Any, bool]]:
    """The number of disjuncts that every disjunction has beyond one, or beyond the indicator of
    the disjunct that it is within: at least 0; and whether it is exactly that.

    Raises `NotExpressibleError` where a disjunct is neither active nor excluded.
    """
    from pyomo.gdp import Disjunct

    for each in _disjunctions(model):
        total, block = 0, each.parent_block()
        for disjunct in each.disjuncts:
            indicator = disjunct.binary_indicator_var
            if not disjunct.active and not (indicator.fixed and not indicator.value):
                raise NotExpressibleError(
                    f"CP-SAT: {disjunct.name} of the Pyomo model is not active and may be chosen; "
                    "allowed: disjuncts that are deactivated, or active"
                )
            total += indicator if disjunct.active else 0
        while block is not None and block.ctype is not Disjunct and block is not model:
            block = block.parent_block()
        inner = block is not None and block.ctype is Disjunct
        yield total - (block.binary_indicator_var if inner else 1), bool(each.xor)


def relaxed_unless(
    require: Callable[[Expression, Fraction], None],
    chosen: Expression,
    ranges: Mapping[str, Interval],
) -> Callable[[Expression, Fraction], None]:
    """A way to require that an expression is at most a bound where a binary variable is 1: by how
    much it may be above it, in exact arithmetic, is added where that is 0.

    Parameters
    ----------
    require : callable
        Requires it everywhere.
    chosen : Expression
        The variable, or its value.
    ranges : mapping of str to Interval
        The values of all variables.
    """

    def require_at_most(expression: Expression, bound: Fraction) -> None:
        span = bounds(expression, ranges)
        if span is None:
            raise NotExpressibleError(
                "CP-SAT: a constraint of a disjunct of the Pyomo model may divide by 0; allowed: "
                "positive divisors"
            )
        excess = max(span.high - bound, Fraction(0))
        require(expression + excess * chosen, bound + excess)

    return require_at_most
