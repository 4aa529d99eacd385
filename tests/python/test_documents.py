"""What README and docs/python.md say is so."""

import contextlib
import inspect
import io
import os
import re
import subprocess
import sys

import plaq
from common import ROOT


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)


def test_readme_runs():
    folder, out = os.getcwd(), io.StringIO()
    os.chdir(ROOT)
    try:
        with contextlib.redirect_stdout(out):
            exec(blocks("README.md")[0], {})
    finally:
        os.chdir(folder)
    assert len(out.getvalue().splitlines()) == 9


def test_names_of_the_page_exist():
    text = (ROOT / "docs/python.md").read_text()
    for name in set(re.findall(r"plaq\.([a-zA-Z_]+)\b(?!\.|/)", text)) - {"h", "so", "whl"}:
        assert hasattr(plaq, name), f"docs/python.md: there is no plaq.{name}"
    kinds = {"U": plaq.Gauge, "D": plaq.Wilson, "N": plaq.Overlap, "S": plaq.Propagator, "chain": plaq.Hmc}
    for letter, kind in kinds.items():
        for name in re.findall(rf"\b{letter}\.([a-z_]+)\(", text):
            assert hasattr(kind, name), f"docs/python.md: {letter}.{name}: {kind.__name__} has none"


def test_the_reference_is_that_of_the_package():
    written = subprocess.run([sys.executable, ROOT / "scripts/python-reference.py"], capture_output=True, check=True)
    page = (ROOT / "docs/python-reference.md").read_text(encoding="utf-8")
    same = written.stdout.decode("utf-8") == page
    assert same, "expected what scripts/python-reference.py > docs/python-reference.md writes"


def test_everything_public_is_documented():
    for name in (name for name in dir(plaq) if not name.startswith("_")):
        value = getattr(plaq, name)
        if inspect.isclass(value) and value.__module__.startswith("plaq"):
            for member, function in vars(value).items():
                if inspect.isfunction(function) and not member.startswith("_"):
                    # A member that overrides another one has the docstring of the first class that has one.
                    assert inspect.getdoc(getattr(value, member)), f"{name}.{member} has no docstring"
            assert value.__doc__, name
        elif inspect.isfunction(value):
            assert value.__doc__, name
