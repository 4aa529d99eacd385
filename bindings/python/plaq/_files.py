"""Helpers for files that are written."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Optional


def file_name(file: Any) -> str:
    """The name of a file as a text; what is no name is refused."""
    if not isinstance(file, (str, bytes, os.PathLike)):
        raise TypeError(f"file: expected the name of a file, found {type(file).__name__} {file!r:.80}")
    return os.fsdecode(file)


@contextmanager
def in_place_of(file: Any) -> Iterator[Path]:
    """A path beside `file` to be written, which gets the name of the file at the end of a `with`. An exception leaves what
    was there."""
    file = Path(file)
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        yield beside
        os.replace(beside, file)
    finally:
        if beside.exists():
            beside.unlink()


def new_file(file: Any, overwrite: bool, append: Optional[bool] = None) -> bool:
    """Refuses a file that exists, unless it is to be replaced or, where `append` is given, added to. Returns whether
    the file exists."""
    if overwrite and append:
        raise ValueError("expected one of overwrite and append, found both")
    name = file_name(file)
    if "\0" in name:
        raise ValueError(f"file: embedded null byte in {name!r:.80}")
    if os.path.isdir(name):
        raise IsADirectoryError(f"{name}: expected the name of a file, found a folder")
    exists = os.path.lexists(name)
    if exists and not (overwrite or append):
        adds = "" if append is None else ", append=True adds to it"
        raise FileExistsError(f"{name}: the file exists: overwrite=True replaces it{adds}")
    return exists
