"""Kinds of layers by the words of which tables say what a row is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Convolutions with a filter for each channel.
_EACH = _names("depthwise dw dwconv dws dwsconv dsc dsconv")
#: Those whose filter is turned around.
_TURNED = _names("transpose transposed convtranspose deconv deconvolution tconv trconv upconv")
#: Others that multiply.
_MULTIPLY = _names(
    "conv convs convolution convolutional pointwise pw pwconv ngconv fc full fully linear dense "
    "innerproduct gemm gemv mm matmul addmm bmm projection proj"
)
_LAYERS = _EACH | _TURNED | _MULTIPLY
#: Rows of a few operations per element.
_FEW = _names(
    "pool pooling maxpool maxpooling avgpool avgpooling averagepool averagepooling max avg average "
    "relu gelu elu selu silu swish hardswish hswish sigmoid hsigmoid hardsigmoid tanh activation "
    "act eltwise elementwise norm normalization normalisation batchnorm layernorm groupnorm "
    "instancenorm rmsnorm bn lrn softmax concat concatenate concatenation flatten reshape dropout "
    "upsample upsampling resize interpolate add sum mul multiply sub input pad split slice permute"
)


@dataclass(frozen=True, slots=True)
class Kind:
    """Kind of a row by the words that a table has for it."""

    words: frozenset[str]
    """The words, and pairs of neighbours as one word."""

    @property
    def each(self) -> bool:
        """Whether each channel has a filter of its own."""
        return bool(self.words & _EACH)

    @property
    def turned(self) -> bool:
        """Whether a convolution is transposed."""
        return bool(self.words & _TURNED)

    @property
    def slides(self) -> bool:
        """Whether a window slides over a map, of which an extent must be known."""
        return any("conv" in word for word in self.words) or self.each

    @property
    def few(self) -> bool:
        """Whether nothing is multiplied by weights but element by element."""
        return bool(self.words & _FEW) and not self.words & _LAYERS

    @property
    def known(self) -> bool:
        """Whether any word is."""
        return bool(self.words & (_LAYERS | _FEW))


def kind_of(text: str) -> Kind:
    """The kind that a text states: words end where letters do, or where a capital begins one."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", text)
    pairs = (first + second for first, second in pairwise(words))
    return Kind(frozenset(word.lower() for word in (*words, *pairs)))
