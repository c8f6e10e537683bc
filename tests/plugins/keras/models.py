"""Keras models for tests, as Keras writes them."""

import json

from ithaca.workloads.networks.find import find_network


def layer(kind, name, reads=(), **config):
    """A layer as Keras 2 writes it; reads are names."""
    nodes = [[[each, 0, 0, {}] for each in reads]] if reads else []
    return {
        "class_name": kind,
        "name": name,
        "config": {"name": name, **config},
        "inbound_nodes": nodes,
    }


def image(*shape):
    return layer("InputLayer", "image", batch_input_shape=[None, *shape])


def functional(*layers, outputs=None, **more):
    config = {
        "name": "net",
        "layers": list(layers),
        "input_layers": [["image", 0, 0]],
        "output_layers": [[outputs or layers[-1]["name"], 0, 0]],
    }
    return {"class_name": "Functional", "config": config, "keras_version": "2.15.0", **more}


def chain(*layers, shape):
    """Layers one after the other behind an input."""
    names = ["image", *(each["name"] for each in layers)]
    for each, before in zip(layers, names, strict=False):
        each["inbound_nodes"] = [[[before, 0, 0, {}]]]
    return functional(image(*shape), *layers)


def read(tmp_path, document, **sizes):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    return find_network(str(path), sizes)


def counts(network):
    return [run.count * run.nest.operations for run in network.order]


def tensor(name, shape):
    config = {"shape": shape, "dtype": "float32", "keras_history": [name, 0, 0]}
    return {"class_name": "__keras_tensor__", "config": config}
