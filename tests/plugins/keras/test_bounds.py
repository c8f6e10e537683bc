"""Keras models of strangers: bounded memory and work, and reasons that are true."""

import json
import zipfile

import pytest

from ithaca.files.errors import InputError
from ithaca.plugins.keras.workloads import building, source
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network import OmissionKind
from tests.plugins.keras.models import chain, counts, functional, image, layer, read


def left_out(network):
    """Operators and reasons of arithmetic that is left out."""
    return [(each.operator, each.reason) for each in network.omissions(OmissionKind.UNSUPPORTED)]


def dense(name="top", units=2):
    return layer("Dense", name, units=units)


def test_archives_are_read_piece_by_piece_without_their_weights(tmp_path, monkeypatch):
    path, taken = tmp_path / "model.keras", []
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.weights.h5", bytes(8 << 20))
        archive.writestr("config.json", json.dumps(chain(dense(), shape=(4,))))
    own = source._Pieces.read
    monkeypatch.setattr(source._Pieces, "read", lambda *at: (taken.append(own(*at)), taken[-1])[1])
    assert counts(find_network(str(path))) == [4 * 2]
    assert sum(map(len, taken)) < 1 << 18


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_that_unpack_without_bounds_are_refused(tmp_path, method):
    path = tmp_path / "model.keras"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("config.json", bytes(1 << 20))
    with pytest.raises(InputError, match=r"is packed in another way; allowed: stored, deflated"):
        find_network(str(path))


def test_tables_of_contents_of_archives_are_bounded(tmp_path):
    path, size = tmp_path / "model.keras", 2 << 20
    end = b"PK\5\6" + bytes(8) + size.to_bytes(4, "little") + bytes(6)
    path.write_bytes(bytes(size) + end)
    with pytest.raises(InputError, match=r"has a table of 2097152 bytes; allowed: at most 1048576"):
        find_network(str(path))


def test_models_within_are_made_once_however_often_they_are_called(tmp_path, monkeypatch):
    made, own = [], building.graph_of
    monkeypatch.setattr(building, "graph_of", lambda *at: made.append(at) or own(*at))
    inner = functional(image(4), layer("Dense", "d", ["image"], units=4))
    often = layer("Functional", "often", ["image"]) | {"config": inner["config"]}
    often["inbound_nodes"] *= 30
    assert sum(counts(read(tmp_path, functional(image(4), often)))) == 30 * 4 * 4
    assert len(made) == 2
    monkeypatch.setattr(building, "MOST_READS", 50)
    with pytest.raises(InputError, match="more than 50 tensors to read; allowed: at most so many"):
        read(tmp_path, functional(image(4), often))


def test_shapes_have_bounded_dimensions_and_extents(tmp_path):
    words = [layer("Embedding", f"e{n}", input_dim=9, output_dim=2) for n in range(40)]
    network = read(tmp_path, chain(dense("first"), *words, dense(), shape=(4,)))
    assert ("Embedding", "what it makes has 33 dimensions; allowed: at most 32") in left_out(
        network
    )
    wide = [layer("UpSampling1D", f"u{n}", size=1 << 40) for n in range(3)]
    network = read(tmp_path, chain(dense("first"), *wide, dense(), shape=(4, 6)))
    reasons = dict(left_out(network))
    assert reasons["Dense"] == "shape of its input is unknown"
    with pytest.raises(
        InputError, match=r"extent of 4398046511104; allowed: at most 1099511627776"
    ):
        read(tmp_path, chain(*wide, dense(), shape=(4, 6)))
    with pytest.raises(InputError, match=r"input 'image' has 34 dimensions; allowed: at most 32"):
        read(tmp_path, chain(dense(), shape=(1,) * 33))


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"config": {"layers": [1]}}, "model.json: model is an object; allowed: class_name"),
        (
            chain(layer("Conv2D", "c", data_format="chanels_first"), shape=(8, 8, 3)),
            "data_format is 'chanels_first'; allowed: channels_last, channels_first",
        ),
        (chain(dense("x" * 1001), shape=(4,)), "name is 'xx.* at most 1000 characters"),
        (chain(layer("X" * 1001, "x"), shape=(4,)), "class_name is 'XX.* at most 1000 characters"),
        (
            chain(layer("Reshape", "x", target_shape=[1] * 33), shape=(4,)),
            "target_shape is a list; allowed: at most 32 integers from -1",
        ),
        (
            chain(layer("EinsumDense", "x", equation="a" * 1001), shape=(4,)),
            "equation is 'aa.* at most 1000 characters",
        ),
        (chain(dense(units=1 << 41), shape=(4,)), "allowed: an integer from 1 to 1099511627776"),
    ],
)
def test_lines_name_the_file_and_what_is_allowed(tmp_path, document, told):
    with pytest.raises(InputError, match=told):
        read(tmp_path, document)


def test_names_of_sequential_models_are_their_own(tmp_path):
    first = dense("a", 4)["config"] | {"batch_input_shape": [None, 8]}
    layers = [
        {"class_name": "Dense", "config": each} for each in (first, dense("a_input")["config"])
    ]
    document = {"class_name": "Sequential", "config": {"layers": layers}}
    assert counts(read(tmp_path, document)) == [8 * 4, 4 * 2]
    layers[1]["config"] = first
    with pytest.raises(InputError, match="layer 'a' occurs twice; allowed: every name once"):
        read(tmp_path, document)


def test_both_directions_are_joined_unless_another_way_is_stated(tmp_path):
    def rows(**mode):
        inner = {"class_name": "GRU", "config": {"units": 3}}
        both = layer("Bidirectional", "both", layer=inner, **mode)
        return counts(read(tmp_path, chain(both, dense(), shape=(5, 4))))[-1]

    assert [rows(), rows(merge_mode="concat"), rows(merge_mode="sum")] == [12, 12, 6]
    assert rows(merge_mode=None) == 6
