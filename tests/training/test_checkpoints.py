import torch
from torch import nn

from discotag.training.checkpoints import last_checkpoint, load_checkpoint, save_checkpoint
from discotag.training.epochs import Epoch


class Tied(nn.Module):
    """Has a weight of two names, one that is not used, and a buffer."""

    def __init__(self):
        super().__init__()
        self.one, self.other, self.unused = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(2, 2)
        self.other.weight = self.one.weight
        self.register_buffer("steps", torch.zeros(1))

    def forward(self, given):
        self.steps += 1
        return self.other(self.one(given))


def train(model, optimizer):
    for _ in range(3):
        model(torch.ones(2, 3)).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def test_a_training_goes_on_from_a_checkpoint_as_if_it_had_never_stopped(tmp_path):
    torch.manual_seed(0)
    figures = {"all": {"f1": 0.1 + 0.2}}
    epochs = [Epoch(1, 3, 1 / 3, figures), Epoch(2, 10, 0.25, figures)]
    model, again = Tied(), Tied()
    optimizer, other = (torch.optim.AdamW(each.parameters(), fused=True) for each in (model, again))
    train(model, optimizer)
    best = {name: each.clone() for name, each in model.state_dict().items()}
    for done in (epochs[:1], epochs):
        save_checkpoint(tmp_path, done, model, optimizer, best)
    (path,) = tmp_path.iterdir()
    assert last_checkpoint(tmp_path) == path
    found, weights = load_checkpoint(path, again, other)
    assert found == epochs
    assert weights.keys() == best.keys()
    train(model, optimizer)
    train(again, other)
    for name, each in again.state_dict().items():
        assert torch.equal(each, model.state_dict()[name]), name
        assert torch.equal(weights[name], best[name]), name
