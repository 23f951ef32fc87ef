"""The files in `deploy/`: scripts that the shell accepts, and manifests that are YAML."""

import subprocess
from pathlib import Path

import pytest
import yaml

DEPLOY = Path(__file__).parents[1] / "deploy"


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("*.sbatch")), ids=lambda path: path.name)
def test_scripts_are_accepted_by_the_shell(path):
    subprocess.run(["bash", "-n", str(path)], check=True)


def test_the_job_of_kubernetes_runs_a_command_that_there_is(capsys):
    from typer.testing import CliRunner

    from discotag.cli import app

    job = yaml.safe_load((DEPLOY / "kuberay" / "predict.yaml").read_text("utf-8"))
    assert job["kind"] == "RayJob"
    words = job["spec"]["entrypoint"].replace("'", "").split()
    given = [word for word in words if word.startswith("--")]
    shown = CliRunner().invoke(app, ["predict", "--help"], env={"COLUMNS": "200"}).stdout
    assert given
    assert all(option in shown for option in given)
