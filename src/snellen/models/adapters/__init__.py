"""One file per kind of model: from its text to a model and its card."""
