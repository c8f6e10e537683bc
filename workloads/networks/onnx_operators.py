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
    BatchNormalization Clip Dropout Elu Erf Flatten Gelu HardSigmoid HardSwish Identity
    InstanceNormalization LRN LayerNormalization LeakyRelu LogSoftmax Mish PRelu QuantizeLinear
    Relu Reshape Selu Sigmoid Softmax Softplus Softsign Squeeze Swish Tanh ThresholdedRelu
    Unsqueeze
    """
)

#: The same of operators that ONNX Runtime adds, in its domain ``com.microsoft`` or in none.
FUSED_ELEMENTWISE = _names(
    """
    BiasAdd BiasDropout BiasGelu BiasSoftmax BiasSplitGelu DequantizeLinear EmbedLayerNormalization
    FastGelu GatherBlockQuantized Gelu GroupNorm QLinearAdd QLinearAveragePool
    QLinearGlobalAveragePool QLinearLeakyRelu QLinearMul QLinearSigmoid QLinearSoftmax
    QuantizeLinear QuickGelu RotaryEmbedding
    SimplifiedLayerNormalization SkipGroupNorm SkipLayerNormalization
    SkipSimplifiedLayerNormalization
    """
)

#: Why operators with an array's arithmetic are not supported.
REASONS = {
    **dict.fromkeys(
        ("If", "Loop", "Scan", "SequenceMap"), "control flow; its body is not looked into"
    ),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), "recurrent; only Conv, Gemm and MatMul are imported"),
    **dict.fromkeys(
        ("ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul"),
        "quantised operator; export the model with QuantizeLinear and DequantizeLinear instead",
    ),
}


def omission(domain: str, operator: str) -> tuple[OmissionKind, str]:
    """The kind of omission that an operator is, and why it is not supported."""
    if domain in ("", "com.microsoft") and operator in FUSED_ELEMENTWISE:
        return OmissionKind.ELEMENTWISE, ""
    if domain not in ("", "ai.onnx"):
        return OmissionKind.UNSUPPORTED, f"operator of domain {domain}, not of ONNX"
    if operator in MOVEMENT:
        return OmissionKind.MOVEMENT, ""
    if operator in ELEMENTWISE:
        return OmissionKind.ELEMENTWISE, ""
    return OmissionKind.UNSUPPORTED, REASONS.get(
        operator, "only Conv, Gemm and MatMul are imported"
    )
