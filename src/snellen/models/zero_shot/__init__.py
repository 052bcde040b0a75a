"""Encoders of images and texts as classifiers: each class is described in words, and the nearest description is the answer."""
