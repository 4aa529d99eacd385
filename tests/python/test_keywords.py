"""What signatures, help and type checkers know of keywords."""

import inspect
import os
import pydoc
import subprocess
import sys
import tempfile
from pathlib import Path

import plaq
from common import refused

FUNCTIONS = [
    plaq.Wilson, plaq.Clover, plaq.Twisted, plaq.Doublet, plaq.Overlap, plaq.Context, plaq.init, plaq.open, plaq.heatbath,
    plaq.point, plaq.wall, plaq.volume, plaq.mesons, plaq.baryons, plaq.Gauge.fix, plaq.Gauge.write, plaq.Gauge.warm,
    plaq.Wilson.solve, plaq.Wilson.propagator, plaq.Wilson.eigen, plaq.Wilson.multigrid, plaq.Wilson.plan,
    plaq.Overlap.solve, plaq.Overlap.propagator, plaq.Propagator.open, plaq.Propagator.write, plaq.Fermion.noise,
]  # fmt: skip


def test_signatures_name_every_keyword():
    for function in FUNCTIONS:
        kinds = {p.kind for p in inspect.signature(function).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds, function
    names = inspect.signature(plaq.Clover).parameters
    assert {"gauge", "csw", "mass", "kappa", "xi", "nu", "precision", "normalisation", "mu", "csw_t"} <= set(names)
    help_of = plaq.Clover.__init__.__doc__
    assert "    mass: " in help_of and "    kappa: " in help_of
    assert inspect.signature(plaq.Wilson.solve).parameters["tol"].default == plaq.capi.plaq_solver_params().tol
    assert "    max_iterations: " in plaq.Wilson.solve.__doc__


def test_misspelt_keywords_are_type_errors():
    U = plaq.Gauge.unit((2, 2, 2, 2))
    D = plaq.Wilson(U, mass=1)
    for words, call in {
        "Wilson()|'mas'|did you mean mass": lambda: plaq.Wilson(U, mas=0.1),
        "Clover()|'mas'|did you mean mass": lambda: plaq.Clover(U, mas=0.1, csw=1),
        "Overlap()|'delt'|did you mean delta": lambda: plaq.Overlap(U, delt=1),
        "Overlap()|'finder'|its name is method now": lambda: plaq.Overlap(U, finder="ritz"),
        "solve()|'tolerance'|did you mean tol": lambda: D.solve(D.field(), tolerance=3),
        "solve()|'algorithm'|its name is solver now": lambda: D.solve(D.field(), algorithm="cg"),
        "write()|'path'|its name is file now": lambda: U.write(path="links"),
        "write()|has no keyword 'path'|its name is file now": lambda: plaq.write(note="a", path="numbers", contents={}),
        "open()|'path'|its name is file now": lambda: plaq.open(path="links"),
        "save()|'path'|its name is file now": lambda: D.eigen(1).save(path="vectors"),
        "load_eigen()|'path'|its name is file now": lambda: D.load_eigen(path="vectors"),
        "plaq_solver_params()|'algorithm'|its name is solver now": lambda: plaq.capi.plaq_solver_params(algorithm="cg"),
        "propagator()|'multigird'|did you mean multigrid": lambda: D.propagator(multigird=1),
        "eigen()|'verfy'|did you mean verify": lambda: D.eigen(2, verfy=1),
        "fix()|'copys'|did you mean copies": lambda: U.fix(copys=1),
        "point()|'momentun'|did you mean momentum": lambda: plaq.point(0, momentun=1),
        "warm()|'colors'|did you mean colours": lambda: plaq.Gauge.warm((2, 2, 2, 2), colors=2),
        "init()|'thread'|did you mean threads": lambda: plaq.init("cpu", thread=1),
    }.items():
        refused(TypeError, words, call)


def public():
    """Functions and methods of the package that a user calls, by name."""
    modules = {name: getattr(plaq, name) for name in plaq._MODULES if name != "capi"}
    places = [("plaq", {name: getattr(plaq, name) for name in plaq._WHERE})]
    places += [(name, vars(module)) for name, module in modules.items()]
    for where, names in places:
        for name, value in names.items():
            own = getattr(value, "__module__", "").partition("plaq.")[2]
            if name.startswith("_") or not own or own == "capi" or own[0] == "_" and own != "_objects":
                continue
            if inspect.isfunction(value):
                yield f"{where}.{name}", value
            elif inspect.isclass(value):
                for member, of in vars(value).items():
                    function = getattr(of, "__func__", of)
                    if inspect.isfunction(function) and (member == "__init__" or not member.startswith("_")):
                        yield f"{where}.{name}.{member}", function


#: Functions that take any keyword: attributes of a file, words of matplotlib, and what is refused in every form.
ANY = {"write", "plot", "eigen", "multishift", "history", "propagator"}


def test_every_function_says_what_a_keyword_may_mean():
    seen = 0
    for name, function in public():
        kinds = {p.kind for p in inspect.signature(function).parameters.values()}
        if inspect.Parameter.VAR_KEYWORD in kinds:
            assert name.rsplit(".", 1)[1] in ANY, f"{name}: passes keywords on and does not say which"
            continue
        known = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
        words = "has no keyword" + (f"|did you mean {known[0]}?" if known and len(known[0]) > 3 else "")
        wrong = {(known[0] if known else "keyword") + "x": 1}
        refused(TypeError, words, lambda: function(**wrong))
        seen += 1
    assert seen > 150, seen
    U = plaq.Gauge.unit((2, 2, 2, 2))
    D = plaq.Wilson(U, mass=1)
    refused(TypeError, "flow()|did you mean step?", lambda: U.flow(0.1, stp=0.1))
    refused(TypeError, "smear_stout()|did you mean steps?", lambda: U.smear_stout(stepps=2))
    refused(TypeError, "heatbath()|did you mean separation?", lambda: plaq.heatbath((2, 2, 2, 2), 5.7, seperation=1))
    refused(TypeError, "multishift()|did you mean tol?", lambda: D.multishift(D.field(), [0.1], tolerance=1e-9))
    refused(TypeError, "Gauge()|did you mean precision?", lambda: plaq.Gauge((2, 2, 2, 2), precison="single"))
    refused(TypeError, "reweighting()|did you mean kind?", lambda: D.reweighting(0.1, kinds="rational"))
    refused(TypeError, "loops()|did you mean dilute?", lambda: D.loops(U, diluted="spin"))
    assert "lattice QCD" in plaq.__doc__ and inspect.signature(plaq.Gauge.flow).parameters["step"].default == 0.02


PROGRAM = """import plaq
U = plaq.Gauge.unit([4, 4, 4, 4])
D = plaq.Wilson(U, mas=0.1)
E = plaq.Clover(U, mas=0.1, csw=1.0)
S = D.propagator(tolerance=3)
D.propagator().pionn()
U.fix(gauge=3)
D.solve(plaq.Fermion(U), tol="small")
D.multigrid(smother="mr")
N = plaq.Overlap(U, mass=0.1)
N.propagator(tolr=1e-6)
N.propagator(masses=[0.1]).pion()
x: plaq.Fermion = D @ D.solve(plaq.Fermion(U), tol=1e-8, solver="cgnr")
C: plaq.Correlator = plaq.Clover(U, mass=0.1, csw=1).propagator((0, 0, 0, 1), tol=1e-8).pion()
n: int = D.report.iterations
s: plaq.Propagator = N.propagator(tol=1e-6)
m: plaq.Multigrid = D.multigrid(block=[2, 2, 2, 2], vectors=[4], progress=True)
params = plaq.capi.plaq_dirac_params(mass=0.1, csw=1.0)
params.mas = 1.0
params.csw = 1.1
t: float = plaq.capi.plaq_solver_params().tolerance
k: int = D.report.iteration
h: int = plaq.capi.plaq_spinor().idd
f = (plaq.capi.plaq_multigrid_level_params * 4)()[0].vectors
"""
#: Lines of it with a mistake.
WRONG = [3, 4, 5, 6, 7, 8, 9, 11, 12, 19, 21, 22, 23]


def lines_with_errors(output):
    return sorted({int(line.split(":")[1]) for line in output.splitlines() if "error:" in line})


def test_mypy_finds_what_is_wrong():
    import mypy  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(PROGRAM)
        command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--cache-dir", f"{folder}/cache", str(file)]
        path = Path(plaq.__file__).resolve().parent.parent
        # mypy finds installed packages by itself, and refuses their folder as a path of its own.
        own = {} if path.name == "site-packages" else {"MYPYPATH": str(path)}
        done = subprocess.run(command, capture_output=True, text=True, env={**own, "PATH": "/usr/bin:/bin"})
    assert lines_with_errors(done.stdout) == WRONG, done.stdout + done.stderr


def test_pyright_finds_the_same():
    import pyright  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "program.py").write_text(PROGRAM)
        path = str(Path(plaq.__file__).resolve().parent.parent)
        command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "program.py"]
        env = {**os.environ, "PYTHONPATH": path}
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=env)
    found = [line.split("program.py", 1)[1] for line in done.stdout.splitlines() if " - error:" in line]
    assert lines_with_errors("\n".join(found)) == WRONG, done.stdout + done.stderr


def test_help_names_the_parameters():
    for kind in (plaq.Clover, plaq.Twisted, plaq.Wilson):
        text = pydoc.render_doc(kind, renderer=pydoc.plaintext)
        assert all(f"{name}: " in text for name in ("mass", "kappa", "csw_t")), text
    assert {"smoother", "vectors", "progress"} <= set(inspect.signature(plaq.Wilson.multigrid).parameters)
