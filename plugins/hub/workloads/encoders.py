"""Models of speech and of images (Whisper, ViT)."""

from __future__ import annotations

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


def vision(c: VisionConfiguration, phase: Phase) -> Model:
    """A vision transformer with its classifier, on images."""
    width, rows = c.hidden_size, phase.rows
    classes = c.num_labels or len(c.id2label or {}) or 1000
    pixels = c.num_channels * c.patch_size**2
    image = ((phase.batch * (phase.tokens - 1), 1),)
    head = part_of("hidden_size", width, c.num_attention_heads)
    batch, biased = phase.batch * c.num_attention_heads, c.qkv_bias is not False
    parts: list[Part] = [
        Matrix("qkv", 3 * width, width, ((rows, 1),), bias=biased),
        Product("scores", batch, phase.tokens, phase.tokens, head),
        Product("attend", batch, phase.tokens, head, phase.tokens, follows=True),
        Matrix("output", width, width, ((rows, 1),), bias=True),
        *_feed_forward(width, c.intermediate_size, rows),
    ]
    side, all_of = phase.batch, (phase.batch, phase.tokens, width)
    own = (
        Elementwise("Softmax", MAP, (batch, phase.tokens, phase.tokens)),
        Elementwise("LayerNormalization", NORM, all_of, 2),
        Elementwise("Gelu", MAP, (side, phase.tokens, c.intermediate_size)),
        Elementwise("Add", GATE, all_of, 2),
    )
    first = Matrix("patches", width, pixels, image, bias=True)  # beside positions, and the class
    return Model(
        (
            Block("", 1, (first,), width * (phase.tokens + 1), (Elementwise("Add", GATE, all_of),)),
            Block("layer", c.num_hidden_layers, tuple(parts), 2 * _NORM * width, own),
            Block(
                "",
                1,
                (Matrix("classes", classes, width, ((phase.batch, 1),), bias=True),),
                _NORM * width,
                (Elementwise("LayerNormalization", NORM, (side, 1, width)),),
            ),
        ),
    )
