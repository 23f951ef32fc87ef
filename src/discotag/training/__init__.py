"""From a corpus to a model. Needs PyTorch: `pip install 'discotag[train]'`."""
