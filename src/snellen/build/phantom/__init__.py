"""The phantom world as files, in the formats other tools read."""
