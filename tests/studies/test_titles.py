"""Titles of studies state the formats of tensors, and files of them are read again."""

import json

import pytest

from ithaca import load, pareto, whatif

NETWORK = {
    "name": "one",
    "layers": [{"op": "kernel", "name": "a", "kernel": "mm", "sizes": {"i": 2, "j": 2, "k": 4}}],
}
QUESTION = {"format": "W=int4,A=int8", "dataflow": "i,j", "divisors_only": True}
STUDIES = {whatif: {"vary": "dsp=4,8"}, pareto: {"objectives": "latency,dsp"}}


@pytest.mark.parametrize("study", STUDIES, ids=lambda each: each.__name__)
@pytest.mark.parametrize("network", [False, True])
def test_titles_state_formats(study, network, tmp_path):
    path = tmp_path / "network.yaml"
    path.write_text(json.dumps(NETWORK))
    workload, sizes = (str(path), {}) if network else ("mm", {"i": 2, "j": 2, "k": 4})
    answer = study(workload, **STUDIES[study], **QUESTION, **sizes)
    stated = "one (W=int4,A=int8) int8" if network else "mm (i=2, j=2, k=4; A=int8,B=int4) int8"
    assert answer.title.startswith(f"{stated}, u250")
    answer.save(str(tmp_path / "answer.json"))
    assert load(str(tmp_path / "answer.json")).title == answer.title
