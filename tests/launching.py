"""Machines and processes that train together, as `torchrun` starts them.

The agents are those of `torchrun`, but the processes are forked from one that has imported
everything. Otherwise, each would take seconds to start.
"""

import multiprocessing
import os
import signal
import socket
import sys
from contextlib import closing, suppress
from time import sleep

PRELOADED = [
    "discotag.cli",
    "discotag.training.runs",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "torch.distributed.run",
    "transformers.models.bert.modeling_bert",
    "typer._adapters",
]
BRISK = {"last_call_timeout": 4, "keep_alive_interval": 1, "keep_alive_max_attempt": 3}
"""How long agents wait for each other, in seconds; by default they wait for a minute."""


def free_port():
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for(port):
    """Wait until a machine listens on a port."""
    for _ in range(600):
        with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port))):
            return
        sleep(0.1)
    raise TimeoutError


class Machine:
    """A machine that runs `discotag` with some processes.

    Args:
        log: The file for what its processes print.
        arguments: The arguments of `discotag`.
        processes: The number of processes.
        port: The port on which all machines of a training meet.
        machines: The least and the largest number of machines.
        restarts: How often processes may be started again.
        before: Is called in each process at its start.
    """

    def __init__(
        self, log, arguments, processes=2, *, port=0, machines=(1, 1), restarts=0, before=None
    ):
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        self.log = log
        given = (log, list(map(str, arguments)), processes, port, machines, restarts, before)
        self.agent = context.Process(target=_agent, args=given)
        self.agent.start()

    def end(self):
        """Wait for the end, and return the exit status and what was printed."""
        self.agent.join(120)
        assert self.agent.exitcode is not None, self.log.read_text()
        return self.agent.exitcode, self.log.read_text()


def launch(*arguments, **named):
    """Train on one machine, and return the exit status and what was printed."""
    return Machine(*arguments, **named).end()


def _agent(log, arguments, processes, port, machines, restarts, before):
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    os.setsid()  # a machine can be killed as a whole
    os.environ["OMP_NUM_THREADS"] = "1"
    if machines != (1, 1):  # as in the guide
        os.environ["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "1"
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in (1, 2):
        os.dup2(file, number)
    config = LaunchConfig(
        *machines,
        processes,
        run_id="test",
        rdzv_backend="c10d",
        rdzv_endpoint=f"127.0.0.1:{port}",
        rdzv_configs=dict(BRISK),
        max_restarts=restarts,
        start_method="fork",
        local_addr="127.0.0.1",
    )
    try:
        elastic_launch(config, _process)(arguments, before)
    except ChildFailedError:
        sys.exit(1)


def _process(arguments, before):
    from discotag.cli import main

    # A process that torchrun starts does not have the agent's own handlers.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if before is not None:
        before()
    sys.argv = ["discotag", *arguments]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
