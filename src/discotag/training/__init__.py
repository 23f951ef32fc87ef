"""Training of models on corpora. Needs PyTorch: `pip install 'discotag[train]'`."""
