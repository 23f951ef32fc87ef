"""From documents to documents with mentions: batches, runtimes, decoding, the tagger."""
