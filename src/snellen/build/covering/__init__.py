"""Sets of images under occluders that are drawn on them: what `build synthetic` and `build diffuse` share."""
