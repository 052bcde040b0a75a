"""Files at addresses (`s3://`, `gs://`, `az://`, `https://`): listed once, read in parts, kept in a cache of bounded size."""
