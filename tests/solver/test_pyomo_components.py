"""Pyomo models with components of every kind: read right, or refused in one line, never left out
of a proof."""

from fractions import Fraction

import pytest

from ithaca.solver.cpsat.from_pyomo import solve_pyomo
from ithaca.solver.engines import NotExpressibleError
from tests.lazy import Lazy, pyo

gdp, mpec = Lazy("pyomo.gdp"), Lazy("pyomo.mpec")
dae, network, kernel = Lazy("pyomo.dae"), Lazy("pyomo.network"), Lazy("pyomo.kernel")


def model():
    """The least t of 1 to 64 with t + u of 5 at least, u of 0 to 3."""
    whole = pyo.ConcreteModel()
    whole.t = pyo.Var(within=pyo.Integers, bounds=(1, 64))
    whole.u = pyo.Var(within=pyo.Integers, bounds=(0, 3))
    whole.c = pyo.Constraint(expr=whole.t + whole.u >= 5)
    whole.v = pyo.Var([1, 2], within=pyo.Binary)
    whole.o = pyo.Objective(expr=whole.t)
    return whole


def logical(m):
    m.b = pyo.BooleanVar()
    m.b.associate_binary_var(m.u)
    m.lc = pyo.LogicalConstraint(expr=m.b)


def indexed_logical(m):
    m.b = pyo.BooleanVar([1, 2])
    m.lc = pyo.LogicalConstraint([1, 2], rule=lambda m, i: m.b[i])


def logical_list(m):
    m.b = pyo.BooleanVar()
    m.lc = pyo.LogicalConstraintList()
    m.lc.add(m.b)


def in_a_block(m):
    m.blk = pyo.Block([1, 2])
    m.blk[2].sos = pyo.SOSConstraint(var=m.v, sos=1)


def disjunct(m):
    m.d = gdp.Disjunct()
    m.d.c = pyo.Constraint(expr=m.t >= 9)


def arc(m):
    m.p, m.q = network.Port(), network.Port()
    m.p.add(m.t, "x")
    m.q.add(m.u, "x")
    m.arc = network.Arc(source=m.p, dest=m.q)


def derivative(m):
    m.when = dae.ContinuousSet(bounds=(0, 1))
    m.x = pyo.Var(m.when, within=pyo.Integers, bounds=(0, 1))
    m.dx = dae.DerivativeVar(m.x)


def piecewise(m):
    m.pw = pyo.Piecewise(m.u, m.t, pw_pts=[1, 30, 64], f_rule=[3, 0, 3], pw_constr_type="EQ")


@pytest.mark.parametrize(
    ("change", "name", "kind"),
    [
        (logical, "lc", "LogicalConstraint"),
        (indexed_logical, "lc", "LogicalConstraint"),
        (logical_list, "lc", "LogicalConstraint"),
        (lambda m: m.add_component("b", pyo.BooleanVar()), "b", "BooleanVar"),
        (
            lambda m: m.add_component("d", gdp.Disjunction(expr=[[m.t >= 20], [m.t >= 10]])),
            "d",
            "Disjunction",
        ),
        (disjunct, "d", "Disjunct"),
        (
            lambda m: m.add_component("s", pyo.SOSConstraint(var=m.v, sos=1)),
            "s",
            "SOSConstraint",
        ),
        (
            lambda m: m.add_component("s", pyo.SOSConstraint(var=m.v, sos=2)),
            "s",
            "SOSConstraint",
        ),
        (in_a_block, r"blk\[2\].sos", "SOSConstraint"),
        (
            lambda m: m.add_component(
                "cc", mpec.Complementarity(expr=mpec.complements(m.t >= 10, m.u >= 0))
            ),
            "cc",
            "Complementarity",
        ),
        (arc, "[pq]", "Port"),
        (derivative, "when", "ContinuousSet"),
        (piecewise, "pw.*", "SOSConstraint"),
        (
            lambda m: m.add_component("f", pyo.ExternalFunction(lambda x: x)),
            "f",
            "ExternalFunction",
        ),
    ],
)
def test_components_that_are_not_read_are_refused(change, name, kind):
    whole = model()
    change(whole)
    line = rf"^CP-SAT: {name} of the Pyomo model is of type {kind}, which is not read; allowed: .*$"
    with pytest.raises(NotExpressibleError, match=line):
        solve_pyomo(whole)


def without_data(m):
    m.lists = pyo.LogicalConstraintList()


def deactivated(m):
    m.s = pyo.SOSConstraint(var=m.v, sos=1)
    m.s.deactivate()
    m.b = pyo.Block()
    m.b.lists = gdp.Disjunction([1, 2], rule=lambda b, i: [[m.t >= 9], [m.t >= 50]])
    m.b.deactivate()
    m.blk = pyo.Block()
    m.blk.c = pyo.Constraint(expr=m.t >= 50)
    m.blk.s = pyo.SOSConstraint(var=m.v, sos=1)
    m.blk.deactivate()
    m.worse = pyo.Objective(expr=-m.t)
    m.worse.deactivate()


def blocks(m):
    m.blk = pyo.Block([1, 2], rule=lambda b, i: setattr(b, "c", pyo.Constraint(expr=m.t >= i)))


def harmless(m):
    m.suffix = pyo.Suffix()
    m.same = pyo.Reference(m.t)
    m.p = pyo.Param([1, 2], initialize={1: 2, 2: 1}, mutable=True)
    m.s, m.r = pyo.Set(initialize=[1, 2]), pyo.RangeSet(3)
    m.e = pyo.Expression(expr=m.t + m.p[1])
    m.check = pyo.BuildCheck(rule=lambda m: True)
    m.never = pyo.Constraint([1], rule=lambda m, i: pyo.Constraint.Skip)


def fixed(m):
    m.f = pyo.Var(within=pyo.Reals)
    m.f.fix(2)
    m.cf = pyo.Constraint(expr=m.t >= m.f)


@pytest.mark.parametrize("change", [without_data, deactivated, blocks, harmless, fixed])
def test_what_says_nothing_more_is_no_obstacle(change):
    whole = model()
    change(whole)
    answer = solve_pyomo(whole)
    assert answer.value == answer.bound == 2
    assert (whole.t.value, whole.u.value) == (2, 3)


def external(m):
    m.inner = pyo.Block()
    m.inner.t = pyo.Var(within=pyo.Integers, bounds=(1, 64))
    m.inner.c = pyo.Constraint(expr=m.inner.t >= 2 * m.u)
    m.inner.o = pyo.Objective(expr=m.inner.t)
    return m.inner


def of_another_model(m):
    """Named like one of this model."""
    m.other = pyo.Constraint(expr=model().t >= 9)


def inside_a_dropped_disjunct(m):
    m.d = gdp.Disjunct()
    m.d.x = pyo.Var(within=pyo.Integers, bounds=(0, 4))
    m.more = pyo.Constraint(expr=m.t >= m.d.x)
    m.d.deactivate()


def function(m):
    m.part = pyo.Constraint(expr=m.f(m.t) >= 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (external, "variable u is in no block"),
        (of_another_model, "variable t is in no block"),
        (inside_a_dropped_disjunct, "variable d.x is in no block"),
        (lambda m: m.add_component("h", pyo.Var(within=[0.5, 1, 2])), "variable h .* integers"),
        (lambda m: m.add_component("h", pyo.Var(bounds=(0, 1))), "variable h .* integers"),
        (lambda m: m.u.fix(None), "u of the Pyomo model has no number"),
        (lambda m: m.o.deactivate(), "0 active objectives; allowed: one"),
        (
            lambda m: m.add_component("k", pyo.Constraint(expr=pyo.Expr_if(m.t >= 3, 1, 0) >= 1)),
            "cannot express",
        ),
        (lambda m: m.add_component("k", pyo.Constraint(expr=pyo.log(m.t) >= 1)), "cannot express"),
        (lambda m: m.add_component("k", pyo.Constraint(expr=m.t**0.5 >= 1)), "cannot express"),
        (lambda m: m.add_component("k", pyo.Constraint(expr=2**m.t >= 9)), "cannot express"),
        (
            lambda m: m.add_component("k", pyo.Constraint(expr=m.u / m.u * m.t >= 3)),
            "cannot express a division by 'u', which is not proven positive",
        ),
        (
            lambda m: m.add_component("k", pyo.Constraint(expr=(m.t + m.u) * m.u**-1 >= 3)),
            "cannot express a division by 'u', which is not proven positive",
        ),
        (
            lambda m: m.add_component("k", pyo.Constraint(expr=pyo.ceil(m.t / (m.u - 1)) >= 3)),
            "not proven positive",
        ),
    ],
)
def test_what_is_not_understood_is_refused_in_one_line(change, message):
    whole = model()
    with pytest.raises(NotExpressibleError, match=f"^CP-SAT: .*{message}.*$"):
        solve_pyomo(change(whole) or whole)


def test_what_is_no_model_is_refused_in_one_line():
    whole = model()
    whole.many = pyo.Block([1, 2])
    for given in (kernel.block(), whole.many, whole.t, 7, pyo.AbstractModel()):
        with pytest.raises(NotExpressibleError, match=r"^CP-SAT: .*allowed: .*$"):
            solve_pyomo(given)
    whole.many[1].t = pyo.Var(within=pyo.Integers, bounds=(4, 9))
    whole.many[1].o = pyo.Objective(expr=whole.many[1].t, sense=pyo.maximize)
    assert solve_pyomo(whole.many[1]).value == Fraction(9)


def test_divisors_that_are_negative_throughout_are_read():
    whole = model()
    whole.n = pyo.Var(within=pyo.Integers, bounds=(-3, -1))
    whole.k = pyo.Constraint(expr=whole.t / whole.n >= -2)
    assert solve_pyomo(whole).value == 2
