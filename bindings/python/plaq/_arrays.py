"""Arrays of NumPy and, by DLPack and __cuda_array_interface__, of CuPy, PyTorch and JAX: what the library may borrow."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import capi

CPU_MEMORY = (1, 3)  # DLPack's kDLCPU and kDLCUDAHost
TYPES = {np.dtype(np.complex128): "double", np.dtype(np.complex64): "single"}


class Borrowed(NamedTuple):
    """Memory of an array that the library uses during a call."""

    address: int
    shape: Tuple[int, ...]
    dtype: np.dtype
    device: bool
    stream: Optional[int]
    #: The array, which owns the memory.
    array: Any

    def layout(self, order: str, **members: Any) -> capi.plaq_layout_params:
        return capi.plaq_layout_params(
            order=order,
            precision=TYPES[self.dtype],
            location="device" if self.device else "host",
            stream=self.stream,
            **members,
        )

    def permuted(self, axes: Tuple[int, ...]) -> "Borrowed":
        """The array with its axes in another order, contiguous."""
        array = self.array
        if not self.device:
            return _borrowed(np.ascontiguousarray(array.transpose(axes)))
        if _framework(array) == "torch":
            return _on_gpu(array.permute(*axes).contiguous(), "array")
        module: Any = sys.modules[_framework(array)]
        return _on_gpu(getattr(module, "numpy", module).ascontiguousarray(array.transpose(axes)), "array")


def _borrowed(array: np.ndarray) -> Borrowed:
    return Borrowed(array.ctypes.data, array.shape, array.dtype, False, None, array)


def as_array(array: np.ndarray, dtype: Any, copy: Optional[bool]) -> np.ndarray:
    """The result of __array__ for numbers that were copied from the library's memory."""
    if copy is False:
        raise ValueError("copy: numbers in the library's memory come as a new array, so copy=False cannot be had")
    return array if dtype is None else array.astype(dtype)


def _framework(value: Any) -> str:
    return type(value).__module__.split(".")[0]


def is_array(value: Any) -> bool:
    """Whether a value is an array of any supported framework."""
    names = ("__cuda_array_interface__", "__dlpack__", "__array_interface__")
    return any(hasattr(type(value), name) for name in names)


def _complex(dtype: Any, name: str) -> np.dtype:
    dtype = np.dtype(dtype)
    if dtype.newbyteorder("=") not in TYPES:
        raise TypeError(f"{name}: expected numbers of complex128 or complex64, found {dtype.name}")
    return dtype.newbyteorder("=")


def _on_gpu(value: Any, name: str) -> Borrowed:
    if _framework(value) == "torch":
        torch = sys.modules["torch"]
        value = value.detach()
        stream = torch.cuda.current_stream(value.device).cuda_stream or 1
        interface = value.__cuda_array_interface__
    else:
        interface = value.__cuda_array_interface__
        stream = interface.get("stream")
    dtype = _complex(interface["typestr"], name)
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    if strides is not None:
        expected, size = [], dtype.itemsize
        for extent in reversed(shape):
            expected.append(size)
            size *= extent
        if tuple(strides) != tuple(reversed(expected)):
            raise ValueError(f"{name}: expected a C-contiguous array, found one with strides {tuple(strides)}")
    return Borrowed(int(interface["data"][0]), shape, dtype, True, stream, value)


def on_host(value: Any, name: str) -> np.ndarray:
    """The NumPy array of an array in memory of the host, without a copy."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack__"):
        kind, number = value.__dlpack_device__()
        if int(kind) not in CPU_MEMORY:
            raise TypeError(
                f"{name}: expected an array in memory of the host or with __cuda_array_interface__, "
                f"found one of {_framework(value)} on device {int(kind)}:{number}"
            )
        if getattr(value, "requires_grad", False):
            value = value.detach()
        if getattr(value, "is_conj", lambda: False)():
            value = value.resolve_conj()
        return np.from_dlpack(value)
    if any(hasattr(value, name) for name in ("__array__", "__array_interface__", "__array_struct__")):
        return np.asarray(value)
    if isinstance(value, (list, tuple)):
        return np.asarray(value)
    raise TypeError(f"{name}: expected an array, found {type(value).__name__}")


def borrow(value: Any, name: str, on_gpu: bool) -> Borrowed:
    """Borrows an array of complex numbers for a call. It must be C-contiguous: an array of the host that is not is
    copied, one of a GPU is refused. `on_gpu` says whether the context computes on a GPU."""
    if getattr(value, "__cuda_array_interface__", None) is not None:
        if not on_gpu:
            raise TypeError(f"{name}: is in memory of a GPU, but the context computes on the CPU; copy it to the host")
        return _on_gpu(value, name)
    found = on_host(value, name)
    return _borrowed(np.ascontiguousarray(found, _complex(found.dtype, name)))


def expect(found: Sequence[int], wanted: Sequence[int], labels: str, name: str) -> None:
    """Refuses another shape than `wanted`, whose indices are called `labels`."""
    if tuple(found) != tuple(wanted):
        shape = ", ".join(map(str, wanted))
        raise ValueError(f"{name}: expected shape ({labels}) = ({shape}), found {tuple(found)}")


def room(like: Any, shape: Tuple[int, ...], dtype: Any) -> Tuple[Borrowed, Any]:
    """Allocates the array for a result, in the memory and with the numbers of `like`; returns it and the array for
    the caller: of CuPy or PyTorch on a GPU, else of NumPy, from which `handed` makes the type of `like`."""
    dtype = np.dtype(dtype)
    if getattr(like, "__cuda_array_interface__", None) is not None and _framework(like) in ("cupy", "torch"):
        if _framework(like) == "cupy":
            array = sys.modules["cupy"].empty(shape, dtype)
        else:
            torch = sys.modules["torch"]
            array = torch.empty(shape, dtype=getattr(torch, dtype.name), device=like.device)
        return _on_gpu(array, "result"), array
    array = np.empty(shape, dtype)
    return _borrowed(array), array


def handed(array: Any, like: Any) -> Any:
    """Converts the result to an array of the framework of `like`."""
    if isinstance(array, np.ndarray):
        if _framework(like) == "torch":
            return sys.modules["torch"].from_numpy(array).to(like.device)
        if _framework(like) in ("jax", "jaxlib"):
            return sys.modules["jax"].numpy.asarray(array)
        if _framework(like) == "cupy":
            return sys.modules["cupy"].asarray(array)
    return array
