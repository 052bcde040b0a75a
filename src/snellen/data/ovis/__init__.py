"""Instances in the frames of videos, as OVIS and YouTube-VIS annotate them: how they are read."""
