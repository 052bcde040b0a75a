"""The three kinds of request: cells, maps and trials."""
