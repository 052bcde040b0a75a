"""What a report claims against what was planted: one file per subject, `observe(seed)` makes a random report and reads it."""
