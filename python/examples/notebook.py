"""notebook.py FILE.ipynb: runs the code of a notebook from top to bottom, as Jupyter's "run all" does."""

import json
import sys
from pathlib import Path
from typing import Any, Dict


def run(path: Path) -> int:
    """Runs all code cells in one namespace; returns how many there were."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    names: Dict[str, Any] = {"__name__": "__main__"}
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    for number, text in enumerate(code):
        exec(compile(text, f"{path.name}, cell {number + 1}", "exec"), names)
    return len(code)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{run(Path(name))} cells of {name}")
