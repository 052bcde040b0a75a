"""The whole exam: from a request to a run with findings and a report."""
