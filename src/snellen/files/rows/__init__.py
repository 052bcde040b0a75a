"""Rows of tables that are larger than memory: their light columns as a whole, their heavy ones by position."""
