"""Pages: each a function to a title and blocks, and a function that writes it."""
