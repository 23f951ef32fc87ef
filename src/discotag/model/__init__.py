"""From words to scores to mentions. Needs PyTorch: `pip install discotag[train]`."""
