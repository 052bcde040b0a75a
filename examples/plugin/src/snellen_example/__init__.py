"""A plug-in of snellen: a model, a dataset, a distortion and an audit. Importing it does nothing; pyproject.toml names them."""
