"""Commands load no family that they do not use."""

import pytest

from benchmarks.loaded import modules, tokens

#: What is loaded of a family whose options a command has, but which it does not use.
OPTIONS = {"options", "architecture", "sparse", "kind", "data"}
FAMILIES = {"systolic", "hierarchies", "recurrences", "rtl", "custom", "flow", "peers"}


@pytest.mark.parametrize(
    ("command", "families"),
    [
        ("solve mm -s i=4,j=4,k=4 --dataflow i,j --divisors-only", {"systolic"}),
        ("whatif mm -s i=4,j=4,k=4 --dataflow i,j --vary dsp=99,100", {"systolic"}),
        ("--help", set()),
    ],
)
def test_a_command_loads_its_own_family_alone(command, families):
    """Options of other families are loaded at the most."""
    places = [name.split(".")[1:] for name in modules(command)]
    parts = [place[1:3] for place in places if place[:1] == ["formulations"] and place[2:]]
    parts += [place[1::2] for place in places if place[:1] == ["plugins"] and place[3:]]
    used = {family for family, part, *_ in parts if part not in OPTIONS}
    assert used & FAMILIES == families


@pytest.mark.ci(whole=True)
@pytest.mark.parametrize(
    ("command", "most"),
    [
        ("solve mm -s i=4,j=4,k=4 --dataflow i,j --divisors-only", 155_000),
        ("list platforms", 45_000),
        ("--help", 15_000),
    ],
)
def test_a_command_loads_little(command, most):
    assert sum(map(tokens, modules(command).values())) <= most
