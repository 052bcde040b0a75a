"""The four kinds of request: cells, maps, trials and searches."""
