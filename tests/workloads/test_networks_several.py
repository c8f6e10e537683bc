"""Several networks as one: the text of a part, and the layers of all."""

import pytest

from ithaca.files.errors import InputError
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.several import PartText, joined, read_part, stated_sizes
from tests.studies.network.tiny import tiny_network


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("vgg16", PartText("vgg16")),
        ("vgg16:3", PartText("vgg16", runs=3)),
        ("m@decode", PartText("m", "decode")),
        ("m@decode,batch=8:128", PartText("m", "decode", (("batch", 8),), 128)),
        ("bert,seq=64,batch=2", PartText("bert", None, (("seq", 64), ("batch", 2)))),
        ("dir/a.yaml:2", PartText("dir/a.yaml", runs=2)),
        (r"C:\nets\a.yaml:2", PartText(r"C:\nets\a.yaml", runs=2)),
    ],
)
def test_the_text_of_a_part_states_phase_sizes_and_runs(text, part):
    assert read_part(text) == part


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("vgg16:0", "the number of runs of network 'vgg16:0' is '0'; allowed: an integer from 1"),
        ("vgg16:1.5", "is '1.5'; allowed: an integer from 1"),
        ("vgg16:", "is ''; allowed: an integer from 1"),
        ("m@:2", "has an empty phase; allowed: NAME"),
        ("m@a@b", "is not understood; allowed: NAME"),
        ("m,batch", "has 'batch'; allowed: NAME"),
        ("m,batch=x", "batch of network 'm,batch=x' is 'x'; allowed: an integer from 1"),
        ("m,n=1,n=2", "has n twice; allowed: every size once"),
        ("", "is not understood"),
    ],
)
def test_other_texts_are_refused(text, line):
    with pytest.raises(InputError) as refused:
        read_part(text)
    assert line in str(refused.value)


def test_a_file_whose_name_looks_like_a_part_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net@v2:3").write_text("")
    assert read_part("net@v2:3") == PartText("net@v2:3")


def test_sizes_are_stated_once():
    part = PartText("m", sizes=(("batch", 2),))
    assert stated_sizes(part, {"tokens": 5}) == {"tokens": 5, "batch": 2}
    with pytest.raises(InputError, match="--batch"):
        stated_sizes(part, {"batch": 1})


def test_layers_run_as_often_as_their_networks(tmp_path):
    tiny = tiny_network(tmp_path)
    vgg = find_network("vgg16", {"batch": 2})
    both = joined([(PartText("tiny.yaml", runs=5), tiny), (PartText("vgg16"), vgg)])
    assert both.operations == 5 * tiny.operations + vgg.operations
    assert [layer.name for layer in both.layers[:3]] == ["tiny/wide", "tiny/deep", "tiny/image"]
    assert [layer.count for layer in both.layers[:3]] == [5, 15, 10]
    relu = [o.count for o in both.unsupported if o.operator == "Relu"]
    vgg_relu = [o.count for o in vgg.unsupported if o.operator == "Relu"]
    assert relu == [5 * 2 + sum(vgg_relu)]
    assert [(part.name, part.runs) for part in both.parts] == [("tiny", 5), ("vgg16", 1)]
    assert [sum(part.has(layer) for part in both.parts) for layer in both.layers] == [1] * len(
        both.layers
    )


def test_parts_have_the_shortest_names_that_tell_them_apart(tmp_path):
    tiny = tiny_network(tmp_path)

    def names(*parts):
        return [part.name for part in joined([(part, tiny) for part in parts]).parts]

    assert names(PartText("m", "prefill"), PartText("m", "decode")) == ["prefill", "decode"]
    assert names(PartText("m", "a"), PartText("m", "a", (("batch", 2),))) == ["1", "2"]
    with pytest.raises(InputError, match=r"'m@a' is given twice; allowed: once.* m@a:4"):
        joined([(PartText("m", "a"), tiny), (PartText("m", "a", (), 3), tiny)])
