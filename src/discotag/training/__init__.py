"""Training of models on corpora. Needs PyTorch: the extra `train`."""
