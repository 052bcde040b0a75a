"""Models behind an address: how they are named, reached and understood."""
