"""The denoising network of Stable Diffusion, a U-Net of convolutions and attention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from ithaca.files.errors import InputError
from ithaca.plugins.hub.workloads.decoders import part_of
from ithaca.plugins.hub.workloads.fields import Configuration, Flag, Size
from ithaca.plugins.hub.workloads.parts import (
    GATE,
    MAP,
    NORM,
    Block,
    Convolution,
    Elementwise,
    Matrix,
    Model,
    Part,
    Product,
)
from ithaca.plugins.hub.workloads.phases import Phase

#: Positions of a text, as CLIP encodes it.
TEXT = 77

Stages = Annotated[list[Size], Field(min_length=2, max_length=8)]


class UNetConfiguration(Configuration):
    """The configuration of a U-Net, of version 1 or 2 of Stable Diffusion."""

    model_type: str = "UNet2DConditionModel"
    class_name: Literal["UNet2DConditionModel"] = Field(alias="_class_name")
    in_channels: Size
    out_channels: Size
    sample_size: Size
    block_out_channels: Stages
    layers_per_block: Annotated[int, Field(ge=1, le=16)]
    cross_attention_dim: Size
    attention_head_dim: Size | Stages
    down_block_types: list[Literal["CrossAttnDownBlock2D", "DownBlock2D"]]
    up_block_types: list[Literal["CrossAttnUpBlock2D", "UpBlock2D"]]
    use_linear_projection: Flag = None


def _heads(c: UNetConfiguration, stage: int) -> int:
    heads = c.attention_head_dim
    return heads[stage] if isinstance(heads, list) else heads


def _residual(name: str, inputs: int, outputs: int, size: int, timed: int, batch: int) -> Block:
    """Two convolutions beside a shortcut, moved by the time step."""

    def convolved(own: str, read: int, window: int) -> Convolution:
        return Convolution(own, outputs, read, (window, window), (size, size), batch)

    parts: list[Part] = [
        convolved("conv1", inputs, 3),
        Matrix("time", outputs, timed, ((batch, 1),), bias=True),
        convolved("conv2", outputs, 3),
    ]
    if inputs != outputs:
        parts.append(convolved("shortcut", inputs, 1))
    places = size * size
    own = (
        Elementwise("GroupNormalization", NORM, (batch, places, inputs)),
        Elementwise("GroupNormalization", NORM, (batch, places, outputs)),
        Elementwise("SiLU", MAP, (batch, places, inputs)),
        Elementwise("SiLU", MAP, (batch, places, outputs)),
        Elementwise("SiLU", MAP, (batch, 1, timed)),
        Elementwise("Add", GATE, (batch, places, outputs), 2),
    )
    return Block(name, 1, tuple(parts), 2 * (inputs + outputs), own)


def _attention(name: str, width: int, size: int, heads: int, text: int, batch: int) -> Block:
    """Attention of an image's positions to one another and to a text's, and what follows."""
    rows, head = size * size, part_of("block_out_channels", width, heads)
    runs = ((batch * rows, 1),)
    several = batch * heads
    parts = (
        Matrix("before", width, width, runs, bias=True),
        Matrix("qkv", 3 * width, width, runs),
        Product("scores", several, rows, rows, head),
        Product("attend", several, rows, head, rows, follows=True),
        Matrix("output", width, width, runs, bias=True),
        Matrix("query", width, width, runs),
        Matrix("text", 2 * width, text, ((batch * TEXT, 1),)),
        Product("text_scores", several, rows, TEXT, head),
        Product("text_attend", several, rows, head, TEXT, follows=True),
        Matrix("text_output", width, width, runs, bias=True),
        Matrix("gate_up", 8 * width, width, runs, bias=True),
        Matrix("down", width, 4 * width, runs, bias=True),
        Matrix("after", width, width, runs, bias=True),
    )
    image = (batch, rows, width)
    own = (
        Elementwise("Softmax", MAP, (several, rows, rows)),
        Elementwise("Softmax", MAP, (several, rows, TEXT)),
        Elementwise("LayerNormalization", NORM, image, 3),
        Elementwise("GroupNormalization", NORM, image),
        Elementwise("Gelu", MAP, (batch, rows, 4 * width)),
        Elementwise("Mul", GATE, (batch, rows, 4 * width)),
        Elementwise("Add", GATE, image, 4),
    )
    return Block(name, 1, parts, 8 * width, own)


def unet(c: UNetConfiguration, phase: Phase) -> Model:
    """One denoising step, of so many images."""
    stages = len(c.block_out_channels)
    for name, types in (
        ("down_block_types", c.down_block_types),
        ("up_block_types", c.up_block_types),
    ):
        if len(types) != stages:
            raise InputError(f"{name} has {len(types)} entries; allowed: {stages}, one a stage")
    if isinstance(c.attention_head_dim, list) and len(c.attention_head_dim) != stages:
        raise InputError(
            f"attention_head_dim has {len(c.attention_head_dim)} entries; allowed: {stages}"
        )
    halved = 2 ** (stages - 1)
    if c.sample_size % halved:
        raise InputError(f"sample_size is {c.sample_size}; allowed: a multiple of {halved}")
    return Model(tuple(_blocks(c, phase.batch)))


def _blocks(c: UNetConfiguration, batch: int) -> Iterator[Block]:
    widths, size, text = c.block_out_channels, c.sample_size, c.cross_attention_dim
    first, timed, last = widths[0], 4 * widths[0], len(widths) - 1

    def window(name: str, outputs: int, inputs: int, size: int, stride: int = 1) -> Block:
        shape = (size, size)
        return Block("", 1, (Convolution(name, outputs, inputs, (3, 3), shape, batch, stride),))

    time = (
        Matrix("time1", timed, first, ((batch, 1),), bias=True),
        Matrix("time2", timed, timed, ((batch, 1),), bias=True),
    )
    yield Block("", 1, time, 0, (Elementwise("SiLU", MAP, (batch, 1, timed)),))
    yield window("front", first, c.in_channels, size)
    before, skipped = first, [first]
    for stage, width in enumerate(widths):
        for place in range(c.layers_per_block):
            name = f"down{stage + 1}.{place + 1}"
            yield _residual(f"{name}.residual", before, width, size, timed, batch)
            if c.down_block_types[stage] == "CrossAttnDownBlock2D":
                yield _attention(f"{name}.attention", width, size, _heads(c, stage), text, batch)
            before = width
            skipped.append(width)
        if stage < last:
            size //= 2
            yield window(f"down{stage + 1}.half", width, width, size, 2)
            skipped.append(width)
    yield _residual("middle1", before, before, size, timed, batch)
    yield _attention("middle", before, size, _heads(c, last), text, batch)
    yield _residual("middle2", before, before, size, timed, batch)
    for stage, width in reversed(list(enumerate(widths))):
        for place in range(c.layers_per_block + 1):
            name = f"up{stage + 1}.{place + 1}"
            yield _residual(f"{name}.residual", before + skipped.pop(), width, size, timed, batch)
            if c.up_block_types[last - stage] == "CrossAttnUpBlock2D":
                yield _attention(f"{name}.attention", width, size, _heads(c, stage), text, batch)
            before = width
        if stage:
            size *= 2
            yield window(f"up{stage + 1}.double", width, width, size)
    all_of = (batch, size * size, first)
    own = (Elementwise("GroupNormalization", NORM, all_of), Elementwise("SiLU", MAP, all_of))
    end = Convolution("end", c.out_channels, first, (3, 3), (size, size), batch)
    yield Block("", 1, (end,), 2 * first, own)
