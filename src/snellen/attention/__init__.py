"""Attention under occlusion: how much of what a transformer attends to lies on objects, occluders and background."""
