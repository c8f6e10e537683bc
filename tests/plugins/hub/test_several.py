"""Phases of models as networks of one machine, and as what studies are of."""

import ithaca
from tests.command_line import refused, succeed


def test_phases_of_a_model_are_named_with_their_speed():
    terms = ("--platform", "u280", "--dtype", "int8", "--dataflow", "i,j", "--divisors-only")
    phases = ("llama3-8b@prefill,tokens=16", "llama3-8b@decode,context=32:4")
    done = succeed("network", *phases, *terms, "--layers", "*.qkv", "--verbose")
    assert "prefill  " in done.stdout
    assert "4 runs of" in done.stdout


def test_studies_are_of_a_phase_with_its_sizes():
    terms = {"dtype": "int8", "dataflow": "i,j", "divisors_only": True, "limit": {"dsp": 64}}
    own = ithaca.whatif(
        "llama3-8b@decode,context=8", layers=["*.attend"], vary={"batch": [1, 2]}, **terms
    )
    for batch, point in zip((1, 2), own.points.values(), strict=True):
        same = ithaca.network(
            "llama3-8b", phase="decode", context=8, batch=batch, layers=["*.attend"], **terms
        )
        assert point.answer.total.value == same.total.value
    line = refused("whatif", "llama3-8b@decode", "--phase", "prefill", "--vary", "batch=1,2")
    assert "has a phase, and so has --phase" in line


def test_words_of_weights_are_counted_where_their_format_is_not_known():
    """Formats are those of layers: without one that has weights, their bytes are not known."""
    terms = {"layers": ["*.scores"], "context": 8, "dataflow": "i,j", "divisors_only": True}
    both = ithaca.network("llama3-8b", format="W=int4,A=int8", limit={"dsp": 64}, **terms)
    memory = next(f.text for f in both.view if isinstance(f, tuple) and f.term == "memory")
    assert "million words, kept of earlier positions" in memory
    assert " MB" in memory.partition("kept")[2]
