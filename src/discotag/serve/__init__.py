"""The HTTP service, its page, and the annotation tool."""
