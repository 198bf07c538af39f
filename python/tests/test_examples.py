"""Every example and notebook runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(p.name for p in FOLDER.glob("*.py") if p.name != "notebook.py")
NOTEBOOKS = sorted(p.name for p in FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("name", SCRIPTS + NOTEBOOKS)
def test_example(name):
    command = [sys.executable] + (["notebook.py", name] if name.endswith(".ipynb") else [name])
    environment = {**os.environ, "FEELER_EXAMPLE_POSES": "2000", "PYTHONPATH": str(FOLDER.parent), "MPLBACKEND": "Agg"}
    done = subprocess.run(command, cwd=FOLDER, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout


def test_there_are_examples():
    assert len(SCRIPTS) >= 5 and len(NOTEBOOKS) >= 2
