"""Wait for what happens in another thread or process."""

from time import monotonic, sleep


def wait_for(condition, seconds=60.0, job=None):
    """Wait until a condition holds; fail if it does not in time, or if the process `job` fails."""
    end = monotonic() + seconds
    while not condition():
        assert monotonic() < end, "this did not happen in time"
        assert job is None or job.poll() in (None, 0), job.stderr.read()
        sleep(0.02)
