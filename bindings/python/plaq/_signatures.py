"""Keywords of functions: what signatures and help say of those that are passed on, and the refusal of unknown ones."""

from __future__ import annotations

import difflib
import functools
import inspect
from typing import Any, Callable, Dict, Iterable, List, Mapping, Sequence, Set, TypeVar


def check_keywords(function: str, given: Iterable[str], known: Sequence[str], old: Mapping[str, str]) -> None:
    """Refuses keywords that a function does not have, and says what was probably meant. `old`: names that keywords had in
    earlier versions, with those that they have now."""
    for name in given:
        if name not in known:
            if name in old:
                raise TypeError(f"{function}() has no keyword {name!r}: its name is {old[name]} now")
            near = difflib.get_close_matches(name, known, 1)
            near = near or [k for k in known if len(k) > 2 and (name.startswith(k) or k.startswith(name))]
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise TypeError(f"{function}() has no keyword {name!r}: {hint}")


#: Names that arguments of functions had in earlier versions, with those that they have now.
RENAMED = {"path": "file"}

F = TypeVar("F", bound=Callable[..., Any])


def passes_on(*sources: Any, without: Sequence[str] = ()) -> Callable[[F], F]:
    """A decorator for a function whose `**` keywords are members of structs of parameters (classes of _native.Struct),
    or keywords of other such functions: its signature has their names and defaults, its documentation what they mean,
    and others are refused."""

    def decorate(function: F) -> F:
        own = inspect.signature(function)
        # Of a function that takes any keyword only old names are refused.
        free = not sources and any(p.kind is p.VAR_KEYWORD for p in own.parameters.values())
        parameters = [p for p in own.parameters.values() if free or p.kind is not p.VAR_KEYWORD]
        named = {p.name for p in parameters} | set(without)
        texts: List[str] = []
        explained: Set[str] = set()
        old = {was: now for was, now in RENAMED.items() if now in own.parameters}
        for source in sources:
            old.update(getattr(source, "_old_", {}))
            if isinstance(source, type):
                table: Any = source
                defaults = table().to_dict()
                for name, text in table.meanings().items():
                    if name in without:
                        continue
                    if name not in explained:
                        texts.append(f"    {name}: {text}")
                        explained.add(name)
                    if name not in named:
                        named.add(name)
                        parameters.append(
                            inspect.Parameter(
                                name,
                                inspect.Parameter.KEYWORD_ONLY,
                                default=defaults[name],
                                annotation=table.annotation(name),
                            )
                        )
            else:
                for name, p in inspect.signature(source).parameters.items():
                    if name not in named and p.kind is p.KEYWORD_ONLY:
                        named.add(name)
                        parameters.append(p)
                doc = (source.__doc__ or "").partition("Keywords:\n")[2]
                lines = {line.strip().split(":")[0]: line for line in doc.splitlines()}
                texts += [line for name, line in lines.items() if name not in without and name not in explained]
                explained |= lines.keys()
        allowed = frozenset(p.name for p in parameters)
        shown = [p for p in parameters if p.name[0] != "_"]
        known = [p.name for p in shown if p.name != "self"]
        signature = own.replace(parameters=shown)

        @functools.wraps(function)
        def checked(*arguments: Any, **keywords: Any) -> Any:
            if free or not allowed.issuperset(keywords):
                check_keywords(spoken, old.keys() & keywords.keys() if free else keywords, known, old)
            return function(*arguments, **keywords)

        owner, _, last = function.__qualname__.rpartition(".")
        spoken = owner if last == "__init__" else last
        doc = inspect.cleandoc(function.__doc__) if function.__doc__ else ""
        checked.__doc__ = "\n".join([doc, "", "Keywords:", *texts]).lstrip() if texts else doc or None
        checked.__signature__ = signature  # type: ignore[attr-defined]
        checked._old_ = old  # type: ignore[attr-defined]
        checked.__sources__ = sources  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return decorate


def checks_keywords(names: Dict[str, Any]) -> None:
    """Gives the public functions and the methods of classes that a module with these names defines the refusal of unknown
    keywords that passes_on makes, where they do not have it yet, and to those that take any keyword that of old names."""

    def checked(value: Any) -> Any:
        if isinstance(value, (classmethod, staticmethod)):
            return type(value)(checked(value.__func__))
        if not inspect.isfunction(value) or hasattr(value, "__sources__"):
            return value
        return passes_on()(value)

    for name, value in list(names.items()):
        if name.startswith("_") or getattr(value, "__module__", None) != names["__name__"]:
            continue
        if inspect.isfunction(value):
            names[name] = checked(value)
        elif isinstance(value, type):
            for member, of in list(vars(value).items()):
                function = of.__func__ if isinstance(of, (classmethod, staticmethod)) else of
                if inspect.isfunction(function) and (member == "__init__" or not member.startswith("_")):
                    setattr(value, member, checked(of))
