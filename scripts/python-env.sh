#!/bin/bash
# usage: python-env.sh LIBRARY FOLDER
# Makes a Python environment in FOLDER in which `import plaq` is the package of this tree with the library LIBRARY:
# NumPy from PyPI, a .pth file that names bindings/python, and a link to the library inside of the package.
# PYTHON names the interpreter (python3).
set -eu
cd "$(dirname "$0")/.."
library=$(realpath "$1")
folder=$2
[ -x "$folder/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder"
python=$folder/bin/python
"$python" -c 'import numpy' 2>/dev/null || "$python" -m pip install --quiet --disable-pip-version-check numpy
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$PWD/bindings/python" >"$packages/plaq.pth"
mkdir -p bindings/python/plaq/lib
ln -sfn "$library" "bindings/python/plaq/lib/libplaq.so.0"
"$python" -c 'import plaq; print("import plaq works in", __import__("sys").executable)'
