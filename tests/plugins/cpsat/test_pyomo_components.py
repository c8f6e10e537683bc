"""Pyomo models with components of every kind: read right, or refused in one line, never left out
of a proof."""

import random
from fractions import Fraction

import pytest

from ithaca.plugins.cpsat.solver.from_pyomo import solve_pyomo
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
        (
            lambda m: m.add_component(
                "cc", mpec.Complementarity(expr=mpec.complements(m.t >= 10, m.u >= 0))
            ),
            "cc",
            "Complementarity",
        ),
        (arc, "[pq]", "Port"),
        (derivative, "when", "ContinuousSet"),
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


def nested(m):
    """t from 20 on, or, if u is 1, from 9 on."""
    m.d, m.e = gdp.Disjunct(), gdp.Disjunct()
    m.d.c = pyo.Constraint(expr=m.t >= 20)
    m.e.inner = gdp.Disjunction(expr=[[m.t >= 30], [m.u == 1, m.t >= 9]])
    m.choice = gdp.Disjunction(expr=[m.d, m.e])


def indicated(m):
    """Two disjuncts, chosen together."""
    m.d = gdp.Disjunct([1, 2])
    for number, least in ((1, 20), (2, 10)):
        m.d[number].c = pyo.Constraint(expr=m.t >= least)
    m.choice = gdp.Disjunction(expr=[m.d[1], m.d[2]], xor=False)
    m.lc = pyo.LogicalConstraint(expr=m.d[1].indicator_var.equivalent_to(m.d[2].indicator_var))


def excluded(m):
    disjunction(m)
    m.choice.disjuncts[1].deactivate()


def disjunction(m):
    m.choice = gdp.Disjunction(expr=[[m.t >= 20], [0.1 * m.t >= 1]])


def at_most_one(m):
    """No u, as t is not 0."""
    m.w = pyo.Var([1, 2], within=pyo.Integers, bounds=(-5, 64))
    m.first, m.second = pyo.Constraint(expr=m.w[1] == m.t), pyo.Constraint(expr=m.w[2] == m.u)
    m.s = pyo.SOSConstraint(var=m.w, sos=1)


def counted_booleans(m):
    m.b = pyo.BooleanVar([1, 2, 3])
    for number in (1, 2):
        m.b[number].associate_binary_var(m.v[number])
    m.more = pyo.Constraint(expr=m.t >= 4 + m.v[1] + m.v[2])
    m.lc = pyo.LogicalConstraint(expr=pyo.atleast(2, [m.b[1], m.b[2], m.b[3]]))


@pytest.mark.parametrize(
    ("change", "least"),
    [
        (indexed_logical, 2),
        (logical_list, 2),
        (in_a_block, 2),
        (disjunction, 10),
        (excluded, 20),
        (nested, 9),
        (indicated, 20),
        (at_most_one, 5),
        (counted_booleans, 5),
    ],
)
def test_logic_is_read(change, least):
    whole = model()
    change(whole)
    answer = solve_pyomo(whole)
    assert answer.value == answer.bound == least == whole.t.value
    for constraint in whole.component_data_objects(pyo.LogicalConstraint):
        assert pyo.value(constraint.expr)
    for disjunct in whole.component_data_objects(gdp.Disjunct, active=True):
        held = (pyo.value(c.expr) for c in disjunct.component_data_objects(pyo.Constraint))
        assert all(held) or not disjunct.indicator_var.value


def logic_of_an_integer(m):
    m.b = pyo.BooleanVar()
    m.b.associate_binary_var(m.u)
    m.lc = pyo.LogicalConstraint(expr=m.b)


def divided(m):
    m.choice = gdp.Disjunction(expr=[[m.t / m.u >= 2], [m.t >= 9]])


def ordered_set_within(m):
    disjunction(m)
    m.choice.disjuncts[0].s = pyo.SOSConstraint(var=m.v, sos=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (logic_of_an_integer, "b of the Pyomo model stands for u; allowed: a binary variable"),
        (lambda m: m.add_component("s", pyo.SOSConstraint(var=m.v, sos=2)), "s .* is an SOS2"),
        (piecewise, "is an SOS2; allowed: SOS1"),
        (disjunct, "d of the Pyomo model is in no disjunction"),
        (divided, "divi.*positive"),
        (ordered_set_within, "SOS"),
    ],
)
def test_logic_that_is_not_read_is_refused_in_one_line(change, message):
    whole = model()
    change(whole)
    with pytest.raises(NotExpressibleError, match=f"^CP-SAT: .*{message}.*$"):
        solve_pyomo(whole)


@pytest.mark.parametrize("seed", range(12))
def test_drawn_disjunctions_are_those_of_enumeration(seed):
    """Sums, products and tenths in disjuncts, any of which may be chosen or exactly one."""
    draw, whole = random.Random(seed), pyo.ConcreteModel()
    whole.x = pyo.Var([0, 1], within=pyo.Integers, bounds=(-2, 3))
    x = whole.x

    def rule():
        a, b, c, most = (draw.choice([-3, -2, -1, 1, 2, 3]) for _ in range(4))
        return lambda x, y: a * x + b * y + Fraction(c, 10) * x * y <= most, (
            a * whole.x[0] + b * whole.x[1] + c / 10 * whole.x[0] * whole.x[1] <= most
        )

    choices = [([rule() for _ in range(draw.randint(1, 3))], draw.random() < 0.5) for _ in "12"]
    for number, (rules, xor) in enumerate(choices):
        own = gdp.Disjunction(expr=[[stated] for _, stated in rules], xor=xor)
        whole.add_component(f"choice{number}", own)
    whole.goal = pyo.Objective(expr=3 * x[0] - 2 * x[1] + x[0] * x[1])
    values = [
        3 * p - 2 * q + p * q
        for p in range(-2, 4)
        for q in range(-2, 4)
        if all(any(holds(p, q) for holds, _ in rules) for rules, _ in choices)
    ]
    answer = solve_pyomo(whole)
    assert answer.value == (min(values) if values else None)
    assert answer.infeasible == (not values)
