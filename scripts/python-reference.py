#!/usr/bin/env python3
"""usage: python-reference.py > docs/python-reference.md

Writes the reference of the Python package from its signatures and docstrings. Needs the library: PLAQ_LIBRARY, or
build/env/bin/python."""

import inspect
import re
import sys

import plaq
from plaq import capi

HEAD = """# Reference of the Python package

Written by `scripts/python-reference.py` from signatures and docstrings; `help()` says the same in Python. An introduction
is [python.md](python.md). Keywords that come from a table of parameters are in [parameters.md](parameters.md), with
defaults and meanings; `help()` lists them with each function.
"""


def annotation(value):
    text = inspect.formatannotation(value) if not isinstance(value, str) else value
    text = re.sub(r"\b(typing|typing_extensions|collections\.abc|plaq\.\w+|np|numpy|_native|_keywords|capi)\.", "", text)
    return text.replace("'", "").replace('"', "")


def signature(function, name):
    """The parameters that the function names itself."""
    own = inspect.signature(inspect.unwrap(function))
    shown = []
    for p in own.parameters.values():
        if p.name in ("self", "cls") or p.name.startswith("_") or p.kind is p.VAR_KEYWORD:
            continue
        text = ("*" if p.kind is p.VAR_POSITIONAL else "") + p.name
        if p.kind is p.KEYWORD_ONLY and "*" not in shown and not any(s.startswith("*") for s in shown):
            shown.append("*")
        shown.append(text if p.default is p.empty else f"{text}={p.default!r}")
    if any(p.kind is p.VAR_KEYWORD for p in own.parameters.values()):
        shown.append("...")
    back = own.return_annotation
    back = "" if back in (own.empty, None, "None") else f" -> {annotation(back)}"
    return f"{name}({', '.join(shown)}){back}"


def words(value):
    doc = inspect.getdoc(value) or ""
    if doc == object.__init__.__doc__:
        doc = ""
    text = re.sub(r"([*_<>])", r"\\\1", doc.partition("Keywords:\n")[0].strip())
    sources = getattr(value, "__sources__", ())
    tables = [s.__name__ for s in sources if isinstance(s, type)]
    others = [s.__qualname__.replace(".__init__", "") for s in sources if not isinstance(s, type)]
    if tables or others:
        text += "\n\nMore keywords: " + ", ".join(
            [f"members of `{name}`" for name in tables] + [f"those of `{name}`" for name in others]
        )
        text += "."
    return text


def members(kind):
    """Functions and properties that the class has itself, in the order of its source."""
    for name, value in vars(kind).items():
        if name.startswith("_"):
            continue
        if isinstance(value, (classmethod, staticmethod)):
            yield f"{kind.__name__}.{name}", value.__func__
        elif isinstance(value, property):
            yield f".{name}", value
        elif inspect.isfunction(value):
            yield f".{name}", value


def bases(value):
    """The classes of the package that a class is made from, the nearest first, but for those of internal modules."""
    if not inspect.isclass(value):
        return []
    return [base for base in value.__mro__[1:] if re.match(r"plaq\.(?!_|capi$)", base.__module__)]


def main():
    out = [HEAD]
    found = {name: getattr(plaq, name) for names in plaq._NAMES.values() for name in names}
    # Classes that others are made from have sections of their own, too.
    for value in list(found.values()):
        for base in bases(value):
            found.setdefault(base.__name__, base)
    for name, value in sorted(found.items(), key=lambda one: one[0].lower()):
        if inspect.isclass(value):
            out.append(f"## {name}\n" + "".join(f"A `{base.__name__}`.\n" for base in bases(value)[:1]))
            out.append(words(value) + "\n")
            init = vars(value).get("__init__")
            if inspect.isfunction(init) and name in plaq._WHERE:
                out.append(f"`{signature(init, name)}`" + (f": {words(init)}\n" if words(init) else "\n"))
            for member, function in members(value):
                what = member if isinstance(function, property) else signature(function, member)
                text = words(function)
                out.append(f"- `{what}`" + (": " + text.replace("\n", "\n  ") if text else ""))
            out.append("")
        elif callable(value):
            out.append(f"## {name}\n`{signature(value, name)}`\n\n{words(value)}\n")
        else:
            out.append(f"## {name}\n{inspect.getdoc(type(value)) or ''}\n")
    text = "\n".join(out)
    sys.stdout.write(re.sub(r"[ \t]+\n", "\n", re.sub(r"\n{3,}", "\n\n", text)))


if __name__ == "__main__":
    main()
