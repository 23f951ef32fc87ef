"""The network and its files: configuration, tokenizer, encoder, tagging layer."""
