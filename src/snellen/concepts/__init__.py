"""Concepts: which units of a layer follow something people have a name for (network dissection, Bau et al. 2017)."""
