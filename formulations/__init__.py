"""Dataflows, the derived array, the cost model, design space and platforms."""
