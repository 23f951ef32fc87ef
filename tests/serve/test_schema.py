"""The service against its own description: whatever a client sends, it does not break.

To try more cases: `DISCOTAG_SCHEMA_CASES=500 pytest tests/serve/test_schema.py`.
"""

import os
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest

pytestmark = pytest.mark.skipif(
    find_spec("schemathesis") is None, reason="schemathesis is not installed"
)

CASES = int(os.environ.get("DISCOTAG_SCHEMA_CASES", "20"))
"""The number of cases for each operation."""

LEFT_OUT = "positive_data_acceptance"
"""The one check that is left out: some texts do not fit into some formats of exports."""


def test_the_service_is_as_it_describes_itself(service, tmp_path):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{service.url}/openapi.json"),
            *("--max-examples", str(CASES), "--phases", "examples,coverage,fuzzing"),
            *("--checks", "all", "--exclude-checks", LEFT_OUT),
            *("--generation-database", "none", "--no-color", "--continue-on-failure"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    (cases,) = re.findall(r"(\d[\d,]*) generated", done.stdout)
    print(f"{cases} cases")
    assert int(cases.replace(",", "")) >= 2 * CASES
    assert "unexpected" not in service.log.read_text()
    assert service.get("/readyz").status_code == 200
