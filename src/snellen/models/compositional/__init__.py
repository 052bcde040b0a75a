"""Compositional networks (Kortylewski et al. 2020): parts on a backbone's features that explain occluders away."""

from __future__ import annotations

from snellen.models.compositional.settings import Compositional, is_compositional, parse_compositional

__all__ = ["Compositional", "is_compositional", "parse_compositional"]
