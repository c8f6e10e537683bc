"""Published totals of multiply-accumulates, of models built as `keras.applications` builds them."""

from ithaca.workloads.networks.find import find_network
from tests.plugins.keras.models import chain, counts, functional, image, layer, read


def conv(name, filters, window=3, strides=1, reads=(), padding="same"):
    """A convolution, or a depthwise one of no filters."""
    kind, own = ("Conv2D", {"filters": filters}) if filters else ("DepthwiseConv2D", {})
    own |= {"kernel_size": [window] * 2, "strides": [strides] * 2, "padding": padding}
    return layer(kind, name, reads, **own)


def test_vgg16(tmp_path):
    """15.47 billion."""
    layers, channels = [], [64, 64, 0, 128, 128, 0, *[256] * 3, 0, *[512] * 3, 0, *[512] * 3, 0]
    for number, filters in enumerate(channels):
        pool = layer("MaxPooling2D", f"l{number}", pool_size=[2, 2], strides=[2, 2])
        layers.append(conv(f"l{number}", filters) if filters else pool)
    layers.append(layer("Flatten", "flat"))
    layers += (
        layer("Dense", f"d{units}{n}", units=units) for n, units in enumerate((4096, 4096, 1000))
    )
    network = read(tmp_path, chain(*layers, shape=(224, 224, 3)))
    assert network.operations == 15_470_264_320
    own = find_network("vgg16")
    assert sorted(counts(network)) == sorted(counts(own))


def test_mobilenet(tmp_path):
    """569 million, its last layer a convolution of one place."""
    layers = [conv("first", 32, strides=2)]
    wide = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)]
    for number, (filters, strides) in enumerate([*wide, *[(512, 1)] * 5, (1024, 2), (1024, 1)]):
        layers += conv(f"deep{number}", 0, strides=strides), conv(f"wide{number}", filters, 1)
    layers += layer("GlobalAveragePooling2D", "mean", keepdims=True), conv("classes", 1000, 1)
    assert read(tmp_path, chain(*layers, shape=(224, 224, 3))).operations == 568_740_352


def test_resnet50(tmp_path):
    """3.86 billion: the first convolution of a block strides, not the second one."""
    layers = [
        layer("ZeroPadding2D", "pad", ["image"], padding=[[3, 3], [3, 3]]),
        conv("first", 64, 7, 2, ["pad"], "valid"),
        layer("ZeroPadding2D", "edge", ["first"], padding=[[1, 1], [1, 1]]),
        layer("MaxPooling2D", "pool", ["edge"], pool_size=3, strides=2),
    ]
    last = "pool"
    for stage, (filters, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for block in range(blocks):
            at, strides = f"{stage}.{block}", 2 if stage and not block else 1
            layers += (
                conv(f"{at}a", filters, 1, strides, [last]),
                conv(f"{at}b", filters, 3, 1, [f"{at}a"]),
                conv(f"{at}c", 4 * filters, 1, 1, [f"{at}b"]),
            )
            if not block:
                layers.append(conv(f"{at}s", 4 * filters, 1, strides, [last]))
            beside = last if block else f"{at}s"
            add = layer("Add", at)
            add["inbound_nodes"] = [[[f"{at}c", 0, 0, {}], [beside, 0, 0, {}]]]
            layers.append(add)
            last = at
    layers += (
        layer("GlobalAveragePooling2D", "mean", [last]),
        layer("Dense", "classes", ["mean"], units=1000),
    )
    network = read(tmp_path, functional(image(224, 224, 3), *layers))
    assert network.operations == 3_857_973_248
