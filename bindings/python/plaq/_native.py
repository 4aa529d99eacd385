"""What plaq.capi is made of: the library, base classes of its types, and conversions of arguments."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import ctypes.util
import difflib
import enum as _enum
import operator
import os
import signal
import sys
import threading
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    List,
    Optional,
    Tuple,
    Type,
    TypeVar,
    Union,
)

import numpy as np

from ._signatures import check_keywords


def _load() -> ctypes.CDLL:
    """The library: that of PLAQ_LIBRARY, else the one inside of this package, else the system's."""
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
    """A function of the library with its types."""
    try:
        found = getattr(library, name)
    except AttributeError:
        raise ImportError(f"plaq: the library {library._name} is older than this package: it has no {name}") from None
    found.restype, found.argtypes = returns, arguments
    return found


_last_error = function("plaq_last_error_in_words", ctypes.c_char_p, [])


class Error(Exception):
    """A call that plaq refused, or that failed. `status` is the number of docs/errors.md."""

    status = 0
    _classes: Dict[int, Type["Error"]] = {}

    def __init_subclass__(cls) -> None:
        if "status" in vars(cls):
            Error._classes[cls.status] = cls


class ArgumentError(Error, ValueError):
    """An argument that does not fit."""


class DeviceError(Error, RuntimeError):
    """No device, or one that failed."""


class CommunicationError(Error, RuntimeError):
    """Ranks that are not there or do not go together."""


class FieldError(Error, ValueError):
    """Fields that do not fit, or hold what they must not."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class PhysicsError(Error, ArithmeticError):
    """Operators and solves: parameters out of range, spectra, what does not converge."""


def raised(status: int) -> Error:
    """The exception of this thread's last failed call."""
    return Error._classes.get(status, Error)(text(_last_error()))


try:
    # Without the search for a name of what it returns, which takes longer than a short call of the library.
    from _signal import getsignal as _handler_of
except ImportError:
    _handler_of = signal.getsignal
_NUMBERS = sorted(map(int, signal.valid_signals()))


class _Signals:
    """Handlers of signals while the library computes. Python runs a handler where a callback begins, before anything
    there could catch what it raises; meanwhile all that are functions of Python only take note. `deliver` then calls
    them, inside of a callback where what they raise ends the call, or after it."""

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
        """Calls handlers of signals that came."""
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


class Handle(ctypes.Structure):
    """An object of the library; id 0 is none."""

    _fields_ = [("id", ctypes.c_int64)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id:#x})"


Named = TypeVar("Named", bound="Enum")


#: Members whose word is not their name.
_words: Dict[Tuple[str, int], str] = {}


class Enum(_enum.IntEnum):
    """Numbers with names, which are also found by their name, or by the word that files and programs have for them, in
    any case, with or without dashes and underscores."""

    @classmethod
    def named(cls: Type[Named], value: Union[int, str]) -> Named:
        """The member of a number or a name."""
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
    """A word without capitals, dashes and underscores, in which spellings may differ."""
    return word.lower().replace("-", "").replace("_", "")


def word(member: Enum, text: str) -> None:
    """Makes the word of files and programs one for a member."""
    _words[type(member).__name__, member.value] = _letters(text)


class Struct(ctypes.Structure):
    """A struct of parameters, which is made with its defaults, or of results."""

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

    if not TYPE_CHECKING:  # it would hide misspelt members

        def __getattribute__(self, name):
            """A number that stands for one of an enum is a member of that."""
            value = super().__getattribute__(name)
            enums = type(self)._enums_
            if name in enums and isinstance(value, int):
                try:
                    return enums[name](value)
                except ValueError:  # of a newer library
                    pass
            return value

    def __setattr__(self, name: str, value: Any) -> None:
        kind = dict(self._fields_).get(name)  # type: ignore[arg-type, misc, call-overload]
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
        """What a member takes, as signatures have it."""
        kind = dict(cls._fields_)[name]  # type: ignore[arg-type, misc, call-overload]
        if name in cls._enums_:
            return "Union[int, str]"
        if issubclass(kind, ctypes.Array):
            return f"Sequence[{'float' if kind._type_ is ctypes.c_double else 'int'}]"
        return {ctypes.c_double: "float", ctypes.c_int32: "int", ctypes.c_int64: "int", ctypes.c_char_p: "str"}.get(
            kind, "Any"
        )

    @classmethod
    def meanings(cls) -> Dict[str, str]:
        """What the members mean, each in a line."""
        lines = (cls.__doc__ or "").split("Members:\n", 1)[-1].splitlines()
        found: Dict[str, str] = {}
        for line in lines:
            name, _, rest = line.strip().partition(":")
            if name in cls.names() and not line.startswith(" " * 8):
                found[name] = rest.strip()
            elif found:
                last = next(reversed(found))
                found[last] = f"{found[last]} {line.strip()}".strip()
        return found

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
    """The stack level of a warning that is given by the caller of this: that of the program that called the package."""
    inside = (str(Path(__file__).resolve().parent), contextlib.__file__)
    frame, found = sys._getframe(1), 1
    while frame.f_back is not None and os.path.realpath(frame.f_code.co_filename).startswith(inside):
        frame, found = frame.f_back, found + 1
    return found


class Callback:
    """A Python function as a C callback. What it raises ends the call and is kept for the caller."""

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
    """No callback."""

    raised = None
    c: Any = None


_kept: Dict[Any, Any] = {}


def callback(kind: Any, function: Optional[Callable[..., Any]]) -> Any:
    """The callback of a call. Without one of the user's, the main thread looks for Ctrl-C."""
    lasting = kind._restype_ is None  # called until another one is set, and cannot end anything
    if function is None:
        if lasting or threading.current_thread() is not threading.main_thread():
            none = _None()
            none.c = kind()
            return none
        return Callback(kind, lambda *arguments: 0)
    made = Callback(kind, function)
    if lasting:
        if not _kept:
            atexit.register(_quiet)
        _kept[kind] = made
    return made


def _quiet() -> None:
    """No thread of the library calls Python once the interpreter ends."""
    library.plaq_log_set(library.plaq_log_set.argtypes[0](), None, 0)
    handler = library.plaq_quda_set_error_handler
    handler(handler.argtypes[0](), None)


def watched(function: Any, made: Any, handles: Tuple[Handle, ...], *arguments: Any) -> None:
    """A call with a callback. What that, or a signal's handler, raised is raised here, whatever the call has made of
    its end; objects that were made are destroyed."""
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
    """Text, or the name of a file, as bytes: names that are not UTF-8 are text with surrogates in Python."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        try:
            value = value.encode(errors="surrogateescape")
        except UnicodeEncodeError as error:
            raise ValueError(f"{name}: expected text, found {error.object[error.start : error.end]!r} in it") from None
    if not isinstance(value, bytes):
        raise TypeError(f"{name}: expected text, found {_kind(value)}")
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
    """The number of a member, of a member's name, or as it is."""
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
    """A handle, that of an object of the package, or for None no object."""
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
    """The address of an array in memory of the host or of a GPU, or as it is."""
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
    """Values that go in."""
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
    if found.dtype.kind not in ("iu" if dtype.kind == "i" else "iuf"):
        raise TypeError(f"{name}: expected numbers of {dtype.name}, found {found.dtype.name}")
    found = np.ascontiguousarray(found, dtype)
    _enough(found.size, count, name)
    # ctypes keeps the object through the call.
    return found.ctypes.data_as(ctypes.c_void_p)


def room(kind: Any, value: Any, name: str, count: Optional[int], optional: bool = False) -> Any:
    """Room for values that come out."""
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
