"""Encoders of text and of images, and models of speech (BERT, ViT, Whisper)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ithaca.files.errors import InputError
from ithaca.plugins.hub.workloads.decoders import part_of
from ithaca.plugins.hub.workloads.fields import Configuration, Flag, Layers, Size
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
    vocabulary,
)
from ithaca.plugins.hub.workloads.phases import Phase
from ithaca.workloads.nest import MAX_EXTENT


class WhisperConfiguration(Configuration):
    """The configuration of Whisper."""

    d_model: Size
    encoder_layers: Layers
    encoder_attention_heads: Size
    encoder_ffn_dim: Size
    decoder_layers: Layers
    decoder_attention_heads: Size
    decoder_ffn_dim: Size
    num_mel_bins: Size
    max_source_positions: Size
    max_target_positions: Size
    vocab_size: Size


#: Words that norms with scales and shifts have, of each word that they normalise.
_NORM = 2


def _attention(
    prefix: str, width: int, heads: int, batch: int, rows: int, columns: int, *, fused: bool = True
) -> list[Part]:
    """Attention whose keys have no bias: of queries on the rows' own keys, or on others (not
    ``fused``), whose matrices are somebody else's."""
    head = part_of("d_model", width, heads)
    runs = ((batch * rows, 1),)
    first = Matrix(f"{prefix}qkv", 3 * width, width, runs) if fused else None
    return [
        first or Matrix(f"{prefix}query", width, width, runs, bias=True),
        Product(f"{prefix}scores", batch * heads, rows, columns, head),
        Product(f"{prefix}attend", batch * heads, rows, head, columns, follows=True),
        Matrix(f"{prefix}output", width, width, runs, bias=True),
    ]


def _feed_forward(width: int, inner: int, rows: int) -> list[Part]:
    return [
        Matrix("up", inner, width, ((rows, 1),), bias=True),
        Matrix("down", width, inner, ((rows, 1),), bias=True, follows=True),
    ]


def whisper(c: WhisperConfiguration, phase: Phase) -> Model:
    """Whisper: the encoder, keys and values of all it writes, and the decoder on a prompt
    (prefill); or the decoder alone, one position further (decode)."""
    if phase.context > c.max_target_positions:
        raise InputError(
            f"context is {phase.context}; allowed: at most {c.max_target_positions}, "
            "max_target_positions"
        )
    width, batch, heard = c.d_model, phase.batch, c.max_source_positions
    heads, new = c.encoder_attention_heads, phase.tokens

    def around(rows: int, inner: int, count: int) -> tuple[Elementwise, ...]:
        """Operations beside attention: norms, activations, sums."""
        return (
            Elementwise("LayerNormalization", NORM, (batch, rows, width), count),
            Elementwise("Gelu", MAP, (batch, rows, inner)),
            Elementwise("Add", GATE, (batch, rows, width), count),
        )

    front = (
        Convolution("conv1", width, c.num_mel_bins, (1, 3), (1, 2 * heard), batch),
        Convolution("conv2", width, width, (1, 3), (1, heard), batch, 2),
    )
    encoding = (
        *_attention("", width, c.encoder_attention_heads, batch, heard, heard),
        *_feed_forward(width, c.encoder_ffn_dim, batch * heard),
    )
    pairs = 2 * width  # biases of queries and values, which the fused matrix does not have
    own = (
        Elementwise("Softmax", MAP, (batch * heads, heard, heard)),
        *around(heard, c.encoder_ffn_dim, 2),
    )
    encoder = Block("encoder", c.encoder_layers, encoding, 2 * _NORM * width + pairs, own)
    crossed = _attention(
        "cross_", width, c.decoder_attention_heads, batch, phase.tokens, heard, fused=False
    )
    both = Matrix("cross_kv", 2 * width, width, ((batch * heard, 1),))
    decoding: tuple[Part, ...] = (
        *_attention("", width, c.decoder_attention_heads, batch, phase.tokens, phase.context),
        *crossed,
        *_feed_forward(width, c.decoder_ffn_dim, phase.rows),
    )
    vectors = 3 * _NORM * width + pairs + width  # the last: a bias of values
    several = batch * c.decoder_attention_heads
    own = (
        Elementwise("Softmax", MAP, (several, new, phase.context)),
        Elementwise("Softmax", MAP, (several, new, heard)),
        *around(new, c.decoder_ffn_dim, 3),
    )
    before = (
        Elementwise("Gelu", MAP, (batch, 2 * heard, width)),
        Elementwise("Gelu", MAP, (batch, heard, width)),
        Elementwise("Add", GATE, (batch, heard, width)),
        Elementwise("LayerNormalization", NORM, (batch, heard, width)),
    )
    blocks: tuple[Block, ...]
    if phase.name == "prefill":
        blocks = (
            Block("", 1, front, _NORM * width, before),
            encoder,
            Block("decoder", c.decoder_layers, (both, *decoding), vectors, own),
        )
        hidden = 0
    else:
        blocks = (Block("decoder", c.decoder_layers, decoding, vectors, own),)
        hidden = sum(part.words for part in front) + _NORM * width + encoder.words
        hidden += c.decoder_layers * both.words
    norm = Elementwise("LayerNormalization", NORM, (batch, 1, width))
    last = vocabulary(c.vocab_size, norm, scales=_NORM, tied=True)
    tables = width * (c.vocab_size + heard + c.max_target_positions)
    cache = 2 * batch * width * c.decoder_layers * (heard + phase.context)
    return Model((*blocks, last), tables + hidden, cache)


class VisionConfiguration(Configuration):
    """The configuration of a vision transformer."""

    hidden_size: Size
    intermediate_size: Size
    num_hidden_layers: Layers
    num_attention_heads: Size
    image_size: Size
    patch_size: Size
    num_channels: Size = 3
    qkv_bias: Flag = None
    id2label: dict[str, str] | None = None
    num_labels: Size | None = None


def patches(c: VisionConfiguration) -> int:
    """Positions of an image: its patches, and one for its class."""
    return (c.image_size // c.patch_size) ** 2 + 1


def _encoder(
    layers: int, width: int, inner: int, heads: int, phase: Phase, *, biased: bool = True
) -> Block:
    """Layers of an encoder: all positions attend to all; a norm beside each of two sums."""
    head, rows = part_of("hidden_size", width, heads), phase.rows
    sides, new, all_of = phase.batch * heads, phase.tokens, (phase.batch, phase.tokens, width)
    parts: tuple[Part, ...] = (
        Matrix("qkv", 3 * width, width, ((rows, 1),), bias=biased),
        Product("scores", sides, new, new, head),
        Product("attend", sides, new, head, new, follows=True),
        Matrix("output", width, width, ((rows, 1),), bias=True),
        *_feed_forward(width, inner, rows),
    )
    own = (
        Elementwise("Softmax", MAP, (sides, new, new)),
        Elementwise("LayerNormalization", NORM, all_of, 2),
        Elementwise("Gelu", MAP, (phase.batch, new, inner)),
        Elementwise("Add", GATE, all_of, 2),
    )
    return Block("layer", layers, parts, 2 * _NORM * width, own)


def vision(c: VisionConfiguration, phase: Phase) -> Model:
    """A vision transformer with its classifier, on images."""
    width = c.hidden_size
    classes = c.num_labels or len(c.id2label or {}) or 1000
    pixels = c.num_channels * c.patch_size**2
    image = ((phase.batch * (phase.tokens - 1), 1),)
    side, all_of = phase.batch, (phase.batch, phase.tokens, width)
    layers = _encoder(
        c.num_hidden_layers,
        width,
        c.intermediate_size,
        c.num_attention_heads,
        phase,
        biased=c.qkv_bias is not False,
    )
    first = Matrix("patches", width, pixels, image, bias=True)  # beside positions, and the class
    return Model(
        (
            Block("", 1, (first,), width * (phase.tokens + 1), (Elementwise("Add", GATE, all_of),)),
            layers,
            Block(
                "",
                1,
                (Matrix("classes", classes, width, ((phase.batch, 1),), bias=True),),
                _NORM * width,
                (Elementwise("LayerNormalization", NORM, (side, 1, width)),),
            ),
        ),
    )


class TextConfiguration(Configuration):
    """The configuration of an encoder of text."""

    hidden_size: Size
    intermediate_size: Size
    num_hidden_layers: Layers
    num_attention_heads: Size
    vocab_size: Size
    max_position_embeddings: Size
    type_vocab_size: Annotated[int, Field(ge=0, le=MAX_EXTENT)] = 0
    """Kinds of sentences, of which each has an embedding."""

    @property
    def pooled(self) -> bool:
        """Whether a matrix follows that reads the first position."""
        return self.model_type != "distilbert"

    @property
    def longest(self) -> int:
        """Positions of the longest text; RoBERTa's table has two rows more."""
        more = 2 if self.model_type == "roberta" else 0
        if self.max_position_embeddings <= more:
            raise InputError(
                f"max_position_embeddings is {self.max_position_embeddings}; allowed: at least "
                f"{more + 1}"
            )
        return self.max_position_embeddings - more


def text(c: TextConfiguration, phase: Phase) -> Model:
    """An encoder of text, on texts of so many positions, without the head of any task."""
    if phase.context != phase.tokens or phase.tokens > c.longest:
        raise InputError(
            f"tokens is {phase.tokens}; allowed: at most {c.longest}, by max_position_embeddings"
        )
    width, side = c.hidden_size, phase.batch
    all_of = (side, phase.tokens, width)
    first = (
        Elementwise("Add", GATE, all_of, 1 + (c.type_vocab_size > 0)),
        Elementwise("LayerNormalization", NORM, all_of),
    )
    blocks = [
        Block("", 1, (), _NORM * width, first),
        _encoder(c.num_hidden_layers, width, c.intermediate_size, c.num_attention_heads, phase),
    ]
    if c.pooled:
        pooler = Matrix("pooler", width, width, ((side, 1),), bias=True)
        blocks.append(Block("", 1, (pooler,), 0, (Elementwise("Tanh", MAP, (side, 1, width)),)))
    rows = c.vocab_size + c.max_position_embeddings + c.type_vocab_size
    return Model(tuple(blocks), rows * width)
