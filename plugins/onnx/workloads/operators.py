"""ONNX operators that are no layers, by what they do.

Names of the default operator set of all versions (https://onnx.ai/onnx/operators/). What is in
none of these sets is counted as arithmetic that is not supported, so nothing is taken for cheap
because it is unknown.
"""

from __future__ import annotations

from ithaca.workloads.networks.network import OmissionKind


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Shapes are changed, or data moved, chosen or generated.
MOVEMENT = _names(
    """
    BitCast Cast CastLike CenterCropPad Compress Concat ConcatFromSequence Constant
    ConstantOfShape DepthToSpace Dropout Expand EyeLike Flatten Gather GatherElements GatherND
    Identity NonZero OneHot Optional OptionalGetElement OptionalHasElement Pad RandomNormal
    RandomNormalLike RandomUniform RandomUniformLike Range Reshape ReverseSequence Scatter
    ScatterElements ScatterND SequenceAt SequenceConstruct SequenceEmpty SequenceErase
    SequenceInsert SequenceLength Shape Size Slice SpaceToDepth Split SplitToSequence Squeeze
    TensorScatter Tile Transpose Trilu Unique Unsqueeze Where
    """
)

#: A few operations per element: activations, sums, comparisons, normalisation, pooling, reductions,
#: scaling.
ELEMENTWISE = _names(
    """
    Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization
    Bernoulli BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor BlackmanWindow Ceil Celu Clip
    Cos Cosh CumProd CumSum DequantizeLinear Div DynamicQuantizeLinear Elu Equal Erf Exp Floor
    Gelu GlobalAveragePool GlobalLpPool GlobalMaxPool Greater GreaterOrEqual GroupNormalization
    HammingWindow HannWindow HardSigmoid HardSwish Hardmax InstanceNormalization IsInf IsNaN LRN
    LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax LpNormalization LpPool Max
    MaxPool MaxRoiPool MaxUnpool Mean MeanVarianceNormalization Min Mish Mod Mul Multinomial Neg
    NegativeLogLikelihoodLoss Not Or PRelu Pow QuantizeLinear RMSNormalization Reciprocal ReduceL1
    ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
    ReduceSumSquare Relu Resize RoiAlign RotaryEmbedding Round Selu Shrink Sigmoid Sign Sin Sinh
    Softmax SoftmaxCrossEntropyLoss Softplus Softsign Sqrt Sub Sum
    SwiGLU Swish Tan Tanh ThresholdedRelu TopK Upsample Xor
    """
)

#: Of these, what makes of one tensor another of as many elements in their order: what reads it
#: reads the former, as it were.
PASSING = _names(
    """
    BatchNormalization Clip DequantizeLinear Dropout Elu Erf Flatten Gelu HardSigmoid HardSwish
    Identity InstanceNormalization LRN LayerNormalization LeakyRelu LogSoftmax Mish PRelu
    QuantizeLinear Relu Reshape Selu Sigmoid Softmax Softplus Softsign Squeeze Swish Tanh
    ThresholdedRelu Unsqueeze
    """
)

#: Domain of the operators that ONNX Runtime adds.
MICROSOFT = "com.microsoft"

#: Of these, what keeps the shape of its first input.
RUNTIME_KEEPING = _names(
    """
    BiasAdd BiasDropout BiasGelu BiasSoftmax DequantizeLinear FastGelu Gelu GroupNorm
    QLinearLeakyRelu QLinearSigmoid QLinearSoftmax QuantizeLinear QuickGelu RotaryEmbedding
    SimplifiedLayerNormalization SkipGroupNorm SkipLayerNormalization
    SkipSimplifiedLayerNormalization
    """
)

#: What ONNX Runtime adds of a few operations per element, in its domain or in none.
FUSED_ELEMENTWISE = RUNTIME_KEEPING | _names(
    """
    BiasSplitGelu EmbedLayerNormalization GatherBlockQuantized QLinearAdd QLinearAveragePool
    QLinearGlobalAveragePool QLinearMul
    """
)

#: Domains of Brevitas, QONNX and FINN with operators that round.
QUANTISERS = (
    "onnx.brevitas",
    "qonnx.custom_op.general",
    "finn.custom_op.general",
    "qonnx.custom_op",
    "finn",
)

#: Domain of QONNX with operators of ONNX on maps whose channels stand last.
CHANNELS_LAST = "qonnx.custom_op.channels_last"

#: Domains of FINN with hardware.
FINN = (
    "finn.custom_op.fpgadataflow",
    "finn.custom_op.fpgadataflow.hls",
    "finn.custom_op.fpgadataflow.rtl",
    "finn",
)

#: What rounds in these domains: each element for itself, so shapes stay.
ROUNDING = _names("BinaryQuant BipolarQuant FloatQuant IntQuant MultiThreshold Quant Trunc")

#: The place of the input that says to how many bits; 0: to one.
BITS = {"Quant": 3, "IntQuant": 3, "Trunc": 4, "BipolarQuant": 0, "BinaryQuant": 0}

#: Other operators there.
QUANTISED_POOLING = _names("GlobalAveragePool MaxPoolNHWC QuantAvgPool2d QuantAvgPool")
QUANTISED_MOVEMENT = _names("Im2Col")

#: Hardware of FINN by what it does, without the endings of its languages.
FINN_ELEMENTWISE = _names(
    """
    AddStreams ChannelwiseOp ElementwiseAdd ElementwiseMul GlobalAccPool LabelSelect Pool
    StreamingEltwise StreamingMaxPool Thresholding
    """
)
FINN_MOVEMENT = _names(
    """
    ConvolutionInputGenerator ConvolutionInputGenerator1D CheckSum DownSampler DuplicateStreams
    FMPadding FMPadding_Pixel InnerShuffle IODMA Lookup OuterShuffle Shuffle StreamingConcat
    StreamingDataWidthConverter StreamingFIFO StreamingSplit TLastMarker
    UpsampleNearestNeighbour
    """
)

#: Why operators with an array's arithmetic are not supported.
REASONS = {
    **dict.fromkeys(
        ("If", "Loop", "Scan", "SequenceMap"), "control flow; its body is not looked into"
    ),
    "DeformConv": "places of its window are computed",
}


def omission(domain: str, operator: str) -> tuple[OmissionKind, str]:
    """The kind of omission that an operator is, and why it is not supported."""
    if domain in ("", MICROSOFT) and operator in FUSED_ELEMENTWISE:
        return OmissionKind.ELEMENTWISE, ""
    if domain in QUANTISERS and operator in ROUNDING | QUANTISED_POOLING:
        return OmissionKind.ELEMENTWISE, ""
    if domain in QUANTISERS and operator in QUANTISED_MOVEMENT:
        return OmissionKind.MOVEMENT, ""
    if domain in FINN:
        core = operator
        for ending in ("_Batch", "_hls", "_rtl"):
            core = core.removesuffix(ending)
        if core in FINN_ELEMENTWISE:
            return OmissionKind.ELEMENTWISE, ""
        if core in FINN_MOVEMENT:
            return OmissionKind.MOVEMENT, ""
    if domain == CHANNELS_LAST and operator in ELEMENTWISE:
        return OmissionKind.ELEMENTWISE, ""
    if domain not in ("", "ai.onnx"):
        return OmissionKind.UNSUPPORTED, f"operator of domain {domain}, not of ONNX"
    if operator in MOVEMENT:
        return OmissionKind.MOVEMENT, ""
    if operator in ELEMENTWISE:
        return OmissionKind.ELEMENTWISE, ""
    return OmissionKind.UNSUPPORTED, REASONS.get(operator, "no kernel is known for it")


def keeps_shape(domain: str, operator: str) -> bool:
    """Whether an operator that is none of ONNX's own keeps the shape of its first input: in any
    domain what rounds."""
    if domain == MICROSOFT:
        return operator in RUNTIME_KEEPING
    return domain not in ("", "ai.onnx") and operator in ROUNDING
