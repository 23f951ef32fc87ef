"""What happens to the processes of a training in tests: they are lost, fail or are interrupted."""

import os
import signal
import sys

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def steady():
    """Make a training with dropout 0 the same for any number of processes.

    The candidates of the mention scorer are drawn at random, and it has a dropout of its own.
    """
    from discotag.model.mention_scorer import MentionScorer
    from discotag.training import losses

    losses.ROUNDS = 1  # the best tag sequence, which has no noise
    MentionScorer.__init__.__defaults__ = (0.0,)


def steady_with(variables):
    """Set the variables of another launcher, as far as they do not say which process this is."""
    steady()
    os.environ.update({k: v for k, v in variables.items() if k.startswith("ACCELERATE_")})


def restarts():
    """Return how often the processes were restarted."""
    return int(os.environ["TORCHELASTIC_RESTART_COUNT"])


def at_step(rank, step, what):
    """Let something happen after a step in one process or, with None, in all that this prepares.

    Nothing happens in processes that have been restarted.
    """
    from discotag.training.trainer import Trainer

    real = Trainer.train_step

    def train_step(self, batch):
        loss = real(self, batch)
        is_meant = rank is None or int(os.environ["RANK"]) == rank
        if is_meant and self.step + 1 == step and restarts() == 0:
            what()
        return loss

    Trainer.train_step = train_step


def steady_until(rank, step, what):
    steady()
    at_step(rank, step, what)


def steady_with_one_writer(out):
    """Raise in all processes but the first if they write to a folder."""
    steady()

    def check(event, arguments):
        writes = event in {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"}
        if event == "open":
            writes = isinstance(arguments[2], int) and arguments[2] & WRITING
        if writes and str(arguments[0]).startswith(out):
            raise AssertionError(f"{event} {arguments}")

    if os.environ["RANK"] != "0":
        sys.addaudithook(check)


def kill_process():
    os.kill(os.getpid(), signal.SIGKILL)


def kill_machine():
    os.killpg(0, signal.SIGKILL)


def interrupt_agent():
    os.kill(os.getppid(), signal.SIGINT)


def use_up_memory():
    import torch

    raise torch.OutOfMemoryError


def lose_two(step):
    """Kill the second process after a step and, after the restart, the first one at the end.

    By then it has moved the model, but not written the figures.
    """
    from discotag.training import runs

    at_step(1, step, kill_process)
    if restarts() == 1:
        runs.plot_curves = lambda *_: kill_process()


def other_files_in_rank_1():
    """Let the second process be on another machine, whose corpus is not the same."""
    from discotag.training import runs

    real = runs.find_digests

    def find_digests(*arguments):
        return real(*arguments) | {"train": ["0"]}

    if os.environ["RANK"] == "1":
        os.environ["LOCAL_RANK"] = "0"
        runs.find_digests = find_digests
