"""What the service and the annotator share: limits, tokens, errors and the files of pages."""
