"""Datasets made from datasets and written to files."""
