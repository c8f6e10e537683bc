"""Readers of ONNX models."""
