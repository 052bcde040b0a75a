"""Models behind a chat endpoint: what they are asked about an image in words, and how their replies become classes."""
