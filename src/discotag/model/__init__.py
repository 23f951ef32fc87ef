"""From words to scores to mentions: the encoder, the tagging layer, the tagger, files on disk.

What trains or runs on PyTorch needs `pip install 'discotag[train]'`; predicting with an exported
model does not.
"""
