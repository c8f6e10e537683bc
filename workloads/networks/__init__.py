"""Networks: the layers of published architectures, of a user's own file, or of an ONNX model."""
