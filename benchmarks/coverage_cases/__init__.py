"""One file per subject: `rows(simulations, seed)` simulates what the subject promises and gives a row per case."""
