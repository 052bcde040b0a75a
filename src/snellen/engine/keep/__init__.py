"""Keeping: the run folder, its tables, and reading them back."""
