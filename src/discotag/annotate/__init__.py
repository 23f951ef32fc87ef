"""The annotation tool: a model proposes mentions, people correct them, a journal keeps it all."""
