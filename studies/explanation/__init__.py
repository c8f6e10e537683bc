"""Explanations of a result: facts about a configuration, each computed by the one cost model."""
