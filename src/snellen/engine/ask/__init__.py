"""Asking: shards of images shown to models, here or on a cluster."""
