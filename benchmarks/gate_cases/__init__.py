"""Worlds in which it is known whether a model became worse, and what a gate makes of them."""
