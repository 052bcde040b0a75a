"""Groupings of ImageNet classes that datasets use."""
