"""The five kinds of request: cells, maps, trials, searches and surveys."""
