"""Foundations of plaq.capi: loading the library, base classes of its types, and conversions of arguments."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import ctypes.util
import difflib
import enum as _enum
import operator
import os
import re
import signal
import sys
import threading
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    ClassVar,
    Dict,
    List,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
)

import numpy as np

from ._signatures import check_keywords


def _load() -> ctypes.CDLL:
    """Loads the library: from the path PLAQ_LIBRARY, else from inside this package, else from the system."""
    named = os.environ.get("PLAQ_LIBRARY")
    inside = sorted((Path(__file__).resolve().parent / "lib").glob("libplaq.so.*"))
    path = named or (str(inside[0]) if inside else ctypes.util.find_library("plaq"))
    if not path:
        raise ImportError(
            "plaq: the library libplaq.so was found neither in this package nor on the system; "
            "set PLAQ_LIBRARY to its file"
        )
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"plaq: the library {path} cannot be loaded: {error}") from None


library = _load()
_FUNCTION: Any = ctypes.CFUNCTYPE(None).__mro__[1]


def function(name: str, returns: Any, arguments: List[Any]) -> Any:
    """A function of the library with its argument and result types."""
    try:
        found = getattr(library, name)
    except AttributeError:
        raise ImportError(f"plaq: the library {library._name} is older than this package: it has no {name}") from None
    found.restype, found.argtypes = returns, arguments
    return found


_last_error = function("plaq_last_error_in_words", ctypes.c_char_p, [])


class Error(Exception):
    """A call that plaq refused, or that failed. `status` is its number in docs/errors.md."""

    status = 0
    _classes: Dict[int, Type["Error"]] = {}

    def __init_subclass__(cls) -> None:
        if "status" in vars(cls):
            Error._classes[cls.status] = cls


class ArgumentError(Error, ValueError):
    """An argument has a wrong type, shape or value."""


class DeviceError(Error, RuntimeError):
    """The device is absent, or it failed."""


class CommunicationError(Error, RuntimeError):
    """Ranks are missing, or make different calls."""


class FieldError(Error, ValueError):
    """Fields of a call do not fit together, or hold values that they must not have."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class PhysicsError(Error, ArithmeticError):
    """Errors of operators and solves: parameters out of range, spectra, failures to converge."""


def raised(status: int) -> Error:
    """Makes the exception for this thread's last failed call."""
    return Error._classes.get(status, Error)(text(_last_error()))


try:
    # Without the search for a name of what it returns, which takes longer than a short call of the library.
    from _signal import getsignal as _handler_of
except ImportError:
    _handler_of = signal.getsignal
_NUMBERS = sorted(map(int, signal.valid_signals()))


class _Signals:
    """Handlers of signals while the library computes. Python would run a handler at the start of a callback, where
    nothing can catch its exceptions. Therefore all handlers that are Python functions are replaced by ones that
    record the signal. `deliver` then calls the original handlers, either inside of a callback, where an exception
    ends the call, or after the call."""

    def __init__(self) -> None:
        self._depth = 0
        self._handlers: Dict[int, Any] = {}
        self._pending: List[Tuple[Any, int, Any]] = []

    def _note(self, number: int, frame: Any) -> None:
        self._pending.append((self._handlers[number], number, frame))

    def __enter__(self) -> None:
        self._depth += 1
        if self._depth > 1:
            return
        self._handlers = {}
        try:
            for number in _NUMBERS:
                handler = _handler_of(number)
                if callable(handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._note)
        except BaseException:
            self._restore()
            raise

    def __exit__(self, *_: Any) -> None:
        if self._depth == 1:
            self._restore()
        else:
            self._depth -= 1

    def _restore(self) -> None:
        self._depth = 0
        for number, handler in self._handlers.items():
            if signal.getsignal(number) == self._note:
                signal.signal(number, handler)

    def deliver(self) -> None:
        """Calls the handlers of signals that were recorded."""
        while self._pending and threading.current_thread() is threading.main_thread():
            handler, number, frame = self._pending.pop(0)
            handler(number, frame)


_signals = _Signals()


def call(function: Any, *arguments: Any) -> None:
    if _kept and threading.current_thread() is threading.main_thread():
        with _signals:  # the log calls Python meanwhile
            status = function(*arguments)
        _signals.deliver()
    else:
        status = function(*arguments)
    if status:
        raise raised(status)


if TYPE_CHECKING:
    Made = TypeVar("Made", bound=ctypes._CData)

    class _StructType(type):
        def __mul__(cls: Type[Made], count: int) -> Type[ctypes.Array[Made]]: ...  # type: ignore[misc]

    class _Structure(ctypes._CData, metaclass=_StructType):
        """ctypes.Structure, which for type checkers has a member of every name, without these: they find misspelt
        ones."""

        _fields_: ClassVar[Sequence[Tuple[str, Any]]]

        def __init__(self, *values: Any) -> None: ...

else:
    _Structure = ctypes.Structure


class Handle(_Structure):
    """Handle of an object of the library; id 0 stands for no object."""

    id: int
    _fields_ = [("id", ctypes.c_int64)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id:#x})"


Named = TypeVar("Named", bound="Enum")


#: Members whose word is not their name.
_words: Dict[Tuple[str, int], str] = {}


class Enum(_enum.IntEnum):
    """Named numbers. A member is also found by its name, or by its word in files and programs, in any case, with or
    without dashes and underscores."""

    @classmethod
    def named(cls: Type[Named], value: Union[int, str]) -> Named:
        """The member with a number or a name."""
        return cls(value)  # type: ignore[arg-type]

    @classmethod
    def _missing_(cls, value: object) -> Any:
        if isinstance(value, str):
            name = _letters(value)
            for member in cls.__members__.values():
                if name in (_letters(member.name), _words.get((cls.__name__, member.value))):
                    return member
        known = ", ".join(member.lower() for member in cls.__members__)
        raise ValueError(f"{cls.__name__}: expected one of {known}, found {value!r}")


def _letters(word: str) -> str:
    """The word in lower case without dashes and underscores, which compares equal for all accepted spellings."""
    return word.lower().replace("-", "").replace("_", "")


def word(member: Enum, text: str) -> None:
    """Registers the word of files and programs for a member."""
    _words[type(member).__name__, member.value] = _letters(text)


def _in_words(text: str) -> str:
    """The text with words in place of constants of the C interface: PLAQ_SOLVER_CG, of plaq_solver_kind, becomes 'cg'."""

    def spelled(found: "re.Match[str]") -> str:
        for kind in Enum.__subclasses__():
            for member in kind.__members__.values():
                prefix = found[0][: -len(member.name)]
                if found[0].endswith(f"_{member.name}") and f"{kind.__name__}_".upper().startswith(prefix):
                    return repr(member.name.lower())
        return found[0]

    return re.sub(r"PLAQ_[A-Z0-9_]+", spelled, text)


class Struct(_Structure):
    """A struct of the library: parameters, which it creates with their defaults, or results."""

    _enums_: Dict[str, Type[Enum]] = {}
    _init_ = ""
    _defaults_: Dict[str, Any] = {}  # of structs that have no function for it
    _old_: Dict[str, str] = {}  # names of members in earlier versions, with those that they have now

    def __init__(self, **members: Any) -> None:
        super().__init__()
        if self._init_:
            call(getattr(library, self._init_), ctypes.byref(self), ctypes.sizeof(self))
        check_keywords(type(self).__name__, members, self.names(), self._old_)
        for name, value in {**self._defaults_, **members}.items():
            setattr(self, name, value)

    if not TYPE_CHECKING:  # they would hide misspelt members

        def __getattribute__(self, name):
            """Reads a member; the number of an enum becomes a member of its class."""
            value = super().__getattribute__(name)
            enums = type(self)._enums_
            if name in enums and isinstance(value, int):
                try:
                    return enums[name](value)
                except ValueError:  # of a newer library
                    pass
            return value

        def __setattr__(self, name, value):
            kind = dict(self._fields_).get(name)
            if kind is None:
                near = difflib.get_close_matches(name, self.names(), 1)
                hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(self.names())}"
                raise AttributeError(f"{type(self).__name__} has no member {name!r}: {hint}")
            super().__setattr__(name, self._converted(name, kind, value))

    def _converted(self, name: str, kind: Any, value: Any) -> Any:
        where = f"{type(self).__name__}.{name}"
        if name in self._enums_:
            return enum(self._enums_[name], value, where)
        if kind in (ctypes.c_int32, ctypes.c_int64):
            return _whole(value, where, 8 * ctypes.sizeof(kind))
        if kind is ctypes.c_double:
            return real(value, where)
        if kind is ctypes.c_char_p:
            return None if value is None else encoded(value, where)
        if kind is ctypes.c_void_p:
            return address(value, where)
        if issubclass(kind, Handle):
            return handle(kind, value, where)
        if issubclass(kind, ctypes._Pointer):  # the address of numbers, which live as long as the struct
            values = np.ascontiguousarray(value, np.dtype(kind._type_))
            self.__dict__[f"_{name}"] = values
            return ctypes.cast(values.ctypes.data, kind)
        if issubclass(kind, _FUNCTION) and callable(value) and not isinstance(value, kind):
            return Callback(kind, value).c
        if issubclass(kind, ctypes.Array) and not isinstance(value, kind):
            items = tuple(value) if np.iterable(value) else (value,)
            if len(items) != kind._length_:
                raise TypeError(f"{where}: expected {kind._length_} numbers, found {len(items)}")
            return kind(*(self._converted(name, kind._type_, item) for item in items))
        return value

    @classmethod
    def names(cls) -> List[str]:
        """Names of the members."""
        return [field[0] for field in cls._fields_ if field[0] != "struct_size"]

    @classmethod
    def annotation(cls, name: str) -> str:
        """The type that a member accepts, as a signature states it."""
        kind = dict(cls._fields_)[name]
        if name in cls._enums_:
            return "Union[int, str]"
        if issubclass(kind, ctypes.Array):
            return f"Sequence[{'float' if kind._type_ is ctypes.c_double else 'int'}]"
        return {ctypes.c_double: "float", ctypes.c_int32: "int", ctypes.c_int64: "int", ctypes.c_char_p: "str"}.get(
            kind, "Any"
        )

    @classmethod
    def meanings(cls) -> Dict[str, str]:
        """The description of every member, in one line each, with the words for constants of the C interface."""
        lines = (cls.__doc__ or "").split("Members:\n", 1)[-1].splitlines()
        found: Dict[str, str] = {}
        for line in lines:
            name, _, rest = line.strip().partition(":")
            if name in cls.names() and not line.startswith(" " * 8):
                found[name] = rest.strip()
            elif found:
                last = next(reversed(found))
                found[last] = f"{found[last]} {line.strip()}".strip()
        return {name: _in_words(text) for name, text in found.items()}

    def to_dict(self) -> Dict[str, Any]:
        """Members as numbers, lists and texts; enums by their names."""

        def plain(name: str, value: Any) -> Any:
            if name in self._enums_:
                members: Any = {m.value: m.name.lower() for m in self._enums_[name]}
                return members.get(value, value)
            if isinstance(value, Struct):
                return value.to_dict()
            if isinstance(value, ctypes.Array):
                return [plain("", item) for item in value]
            if isinstance(value, Handle):
                return value.id
            return value.decode() if isinstance(value, bytes) else value

        return {name: plain(name, getattr(self, name)) for name in self.names()}

    def __repr__(self) -> str:
        members = ", ".join(f"{name}={value!r}" for name, value in self.to_dict().items())
        return f"{type(self).__name__}({members})"


def level() -> int:
    """Stack level for a warning that should point at the program's line that called the package."""
    inside = (str(Path(__file__).resolve().parent), contextlib.__file__)
    frame, found = sys._getframe(1), 1
    while frame.f_back is not None and os.path.realpath(frame.f_code.co_filename).startswith(inside):
        frame, found = frame.f_back, found + 1
    return found


class Callback:
    """A Python function as a C callback. An exception in it ends the call and is kept for the caller."""

    def __init__(self, kind: Any, function: Callable[..., Any]) -> None:
        self.raised: Optional[BaseException] = None

        def run(*arguments: Any) -> Any:
            try:
                if kind._restype_ is not None:  # others cannot end anything
                    _signals.deliver()
                # The last argument is `user`.
                answer = function(*(text(a) if isinstance(a, bytes) else a for a in arguments[:-1]))
                return None if kind._restype_ is None else int(bool(answer))
            except BaseException as error:
                self.raised = self.raised or error
                return None if kind._restype_ is None else 1

        self.c = kind(run)


class _None:
    """Stands for a call without callback."""

    raised = None
    c: Any = None


#: Callbacks that last, by kind: the log's and the error handler's. Calls look for signals while there is one.
_kept: Dict[Any, Any] = {}
#: Callbacks that were replaced; they stay alive, as a thread of the library may be inside of one.
_replaced: List[Any] = []


def callback(kind: Any, function: Optional[Callable[..., Any]]) -> Any:
    """The callback of a call. If the user gives none, the main thread gets one that looks for Ctrl-C."""
    lasting = kind._restype_ is None  # called until another one is set, and cannot end anything
    if lasting and kind in _kept:
        _replaced.append(_kept.pop(kind))
    if function is None:
        if lasting or threading.current_thread() is not threading.main_thread():
            none = _None()
            none.c = kind()
            return none
        return Callback(kind, lambda *arguments: 0)
    made = Callback(kind, function)
    if lasting:
        if not _kept and not _replaced:
            atexit.register(_quiet)
        _kept[kind] = made
    return made


def _quiet() -> None:
    """Stops threads of the library from calling Python when the interpreter ends."""
    library.plaq_log_set(library.plaq_log_set.argtypes[0](), None, 0)
    handler = library.plaq_quda_set_error_handler
    handler(handler.argtypes[0](), None)


def watched(function: Any, made: Any, handles: Tuple[Handle, ...], *arguments: Any) -> None:
    """Makes a call with a callback. An exception of the callback or of a signal's handler is raised here, whatever
    status the call returned; objects that the call created are destroyed."""
    if threading.current_thread() is threading.main_thread():
        with _signals:
            status = function(*arguments)
    else:
        status = function(*arguments)
    failed = raised(status) if status else None
    error, made.raised = made.raised, None
    try:
        _signals.deliver()
    except BaseException as late:
        error = error or late
    error = error or failed
    if error is not None:
        for handle in handles:
            destroy = getattr(library, f"{type(handle).__name__}_destroy")
            destroy.argtypes = [type(handle)]
            destroy(handle)
        try:
            raise error
        finally:
            del error  # not in a circle with its own traceback


def text(value: Optional[bytes]) -> str:
    return (value or b"").decode(errors="replace")


def encoded(value: Any, name: str) -> bytes:
    """Text, or the name of a file, as bytes. Names of files that are not UTF-8 are Python texts with surrogates."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        try:
            value = value.encode(errors="surrogateescape")
        except UnicodeEncodeError as error:
            raise ValueError(f"{name}: expected text, found {error.object[error.start : error.end]!r} in it") from None
    if not isinstance(value, bytes):
        what = "the name of a file" if name == "file" else "text"
        raise TypeError(f"{name}: expected {what}, found {_kind(value)}")
    if b"\0" in value:
        raise ValueError(f"{name}: embedded null byte in {value!r:.80}")
    return value


def _kind(value: Any) -> str:
    return "None" if value is None else f"{type(value).__name__} {value!r:.80}"


def _whole(value: Any, name: str, bits: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        if not (isinstance(value, float) and value.is_integer()):
            raise TypeError(f"{name}: expected a whole number, found {_kind(value)}") from None
        number = int(value)
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise OverflowError(f"{name}: expected a whole number of {bits} bits, found {number}")
    return number


def int32(value: Any, name: str) -> int:
    return _whole(value, name, 32)


def int64(value: Any, name: str) -> int:
    return _whole(value, name, 64)


def real(value: Any, name: str) -> float:
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{name}: expected a real number, found {_kind(value)}")


#: Numbers of words that were asked for.
_numbers: Dict[Tuple[Type[Enum], str], int] = {}


def enum(kind: Type[Enum], value: Any, name: str) -> int:
    """The number of a member or of a member's name; numbers are returned unchanged."""
    if isinstance(value, str):
        found = _numbers.get((kind, value))
        if found is None:
            try:
                found = _numbers[kind, value] = int(kind.named(value))
            except ValueError as error:
                raise ValueError(f"{name}: {str(error).split(': ', 1)[1]}") from None
        return found
    return _whole(value, name, 32)


def handle(kind: Any, value: Any, name: str) -> Any:
    """The argument's handle: a handle, that of an object of the package, or no object for None."""
    if value is None:
        return kind()
    value = getattr(value, "handle", value)
    if not isinstance(value, kind):
        raise TypeError(f"{name}: expected {kind.__name__}, found {_kind(value)}")
    return value


def struct(kind: Any, value: Any, name: str) -> Any:
    """The address of a struct or handle; NULL for None."""
    if value is None:
        return None
    if not isinstance(value, kind):
        raise TypeError(f"{name}: expected {kind.__name__}, found {_kind(value)}")
    return ctypes.byref(value)


def address(value: Any, name: str) -> Optional[int]:
    """The address of an array in memory of the host or of a GPU; numbers are returned unchanged."""
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, (ctypes.Array, ctypes.Structure)):
        return ctypes.addressof(value)
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError(f"{name}: expected a C-contiguous array; numpy.ascontiguousarray makes one")
        return int(value.ctypes.data)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        if interface.get("strides") is not None:
            raise ValueError(f"{name}: expected a C-contiguous array of the GPU")
        return int(interface["data"][0])
    raise TypeError(f"{name}: expected an array or an address, found {_kind(value)}")


def _enough(found: int, count: Optional[int], name: str) -> None:
    if count is not None and found < count:
        raise ValueError(f"{name}: expected {count} numbers, found {found}")


def array(kind: Any, value: Any, name: str, count: Optional[int]) -> Any:
    """Converts values to an input array of a call."""
    if isinstance(value, ctypes.Array):
        if value._type_ is not kind:
            raise TypeError(f"{name}: expected an array of {kind.__name__}, found one of {value._type_.__name__}")
        _enough(len(value), count, name)
        return value
    if issubclass(kind, ctypes.Structure):
        items = [handle(kind, item, name) for item in value]
        _enough(len(items), count, name)
        return (kind * len(items))(*items)
    found = np.asarray(value)
    dtype = np.dtype(kind)
    if found.dtype.kind == "c" and dtype.kind == "f":
        found = np.ascontiguousarray(found, np.complex128).view(np.float64)
    # A list without entries has no type of its own.
    if found.size and found.dtype.kind not in ("iu" if dtype.kind == "i" else "iuf"):
        raise TypeError(f"{name}: expected numbers of {dtype.name}, found {found.dtype.name}")
    found = np.ascontiguousarray(found, dtype)
    _enough(found.size, count, name)
    # ctypes keeps the object through the call.
    return found.ctypes.data_as(ctypes.c_void_p)


def room(kind: Any, value: Any, name: str, count: Optional[int], optional: bool = False) -> Any:
    """Allocates an array for values that a call returns."""
    if value is None:
        if optional:
            return None
        raise TypeError(f"{name}: expected an array to write to, found None")
    if isinstance(value, ctypes.Array):
        if value._type_ is not kind:
            raise TypeError(f"{name}: expected an array of {kind.__name__}, found one of {value._type_.__name__}")
        _enough(len(value), count, name)
        return value
    if issubclass(kind, ctypes.Structure):
        raise TypeError(f"{name}: expected an array ({kind.__name__} * n)(), found {_kind(value)}")
    dtype = np.dtype(kind)
    if not isinstance(value, np.ndarray) or value.dtype not in (dtype, np.dtype(complex)):
        found = value.dtype.name if isinstance(value, np.ndarray) else _kind(value)
        raise TypeError(f"{name}: expected a NumPy array of {dtype.name} to write to, found {found}")
    if value.dtype.kind == "c" and dtype.kind != "f":
        raise TypeError(f"{name}: expected a NumPy array of {dtype.name} to write to, found {value.dtype.name}")
    if not (value.flags.c_contiguous and value.flags.writeable):
        raise ValueError(f"{name}: expected a C-contiguous array that may be written to")
    _enough(value.nbytes // dtype.itemsize, count, name)
    return value.ctypes.data_as(ctypes.c_void_p)
