"""Errors, arrays and callbacks: what the other modules share."""

from __future__ import annotations

import os
import threading
from typing import Any, Callable, Iterator, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from feeler._native import ffi, lib

FloatArray = npt.NDArray[np.float64]
PathLike = Union[str, "os.PathLike[str]"]
Progress = Callable[[float], Optional[bool]]


class FeelerError(Exception):
    """An error of the library. The text is the library's sentence; `code` names the kind, such as "not found".

    >>> import feeler
    >>> try:
    ...     feeler.load("nowhere.stl")
    ... except feeler.FeelerError as error:
    ...     print(error.code)
    not found
    """

    code = "failed"


class InputError(FeelerError, ValueError):
    """A file or a value that cannot be used."""


class MissingError(FeelerError, FileNotFoundError):
    """A file, a part or a group that does not exist."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class AccessError(FeelerError, OSError):
    """A file that cannot be read or written."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class MemoryShortage(FeelerError, MemoryError):
    """Not enough memory."""


class Cancelled(FeelerError):
    """A progress callback returned False."""


_KINDS = {
    lib.FLR_BAD_INPUT: (InputError, "bad input"),
    lib.FLR_BAD_ARGUMENT: (InputError, "bad argument"),
    lib.FLR_NOT_FOUND: (MissingError, "not found"),
    lib.FLR_DENIED: (AccessError, "denied"),
    lib.FLR_IO: (AccessError, "io"),
    lib.FLR_NO_MEMORY: (MemoryShortage, "no memory"),
    lib.FLR_TOO_LARGE: (InputError, "too large"),
    lib.FLR_UNSUPPORTED: (FeelerError, "unsupported"),
    lib.FLR_TIMEOUT: (FeelerError, "timeout"),
    lib.FLR_CANCELLED: (Cancelled, "cancelled"),
    lib.FLR_CRASHED: (FeelerError, "crashed"),
}


def fail(code: int, error: Any) -> FeelerError:
    """The exception for a result of the library."""
    kind, name = _KINDS.get(code, (FeelerError, "failed"))
    made: FeelerError = kind(ffi.string(error.message).decode("utf-8", "replace"))
    made.code = name
    return made


def check(code: int, error: Any) -> None:
    if code != lib.FLR_OK:
        raise fail(code, error)


def path_bytes(path: PathLike) -> bytes:
    text = os.fsencode(path)
    if b"\0" in text:
        raise InputError("a file name cannot hold a zero byte")
    return text


# ---- callbacks ----


class Watch:
    """A callback's context: calls `progress` and keeps what it raises, Ctrl-C included, until the library returns."""

    def __init__(self, progress: Optional[Progress]) -> None:
        self.progress = progress
        self.raised: Optional[BaseException] = None
        self.handle = ffi.new_handle(self)

    def ask(self, done: float) -> bool:
        if self.raised is not None:
            return False
        try:
            return self.progress is None or self.progress(done) is not False
        except BaseException as error:  # noqa: B902 - also KeyboardInterrupt
            self.raised = error
            return False

    def check(self, code: int, error: Any) -> None:
        if self.raised is not None:
            raise self.raised
        check(code, error)


def _keep(kind: Any, value: Any, trace: Any) -> Any:
    """Called by cffi for what a callback raises outside of `ask`: a signal that comes while it is entered or left."""
    frame = trace.tb_frame if trace else None
    watch = frame.f_locals.get("watch") if frame else None
    if isinstance(watch, Watch):
        watch.raised = value
    elif frame is not None and "context" in frame.f_locals:
        ffi.from_handle(frame.f_locals["context"]).raised = value
    return False


@ffi.def_extern(onerror=_keep, error=False)  # type: ignore[misc]
def feeler_progress(context: Any, done: float) -> bool:
    watch: Watch = ffi.from_handle(context)
    return watch.ask(done)


@ffi.def_extern(onerror=_keep, error=False)  # type: ignore[misc]
def feeler_stage(context: Any, done: float, stage: Any) -> bool:
    watch: Watch = ffi.from_handle(context)
    return watch.ask(done)


@ffi.def_extern(onerror=_keep, error=False)  # type: ignore[misc]
def feeler_go_on(context: Any) -> bool:
    watch: Watch = ffi.from_handle(context)
    return watch.ask(0.0)


@ffi.def_extern(onerror=_keep, error=False)  # type: ignore[misc]
def feeler_search(context: Any, now: Any) -> bool:
    watch: Watch = ffi.from_handle(context)
    return watch.ask(now.seconds)


@ffi.def_extern(error=False)  # type: ignore[misc]
def feeler_skip(context: Any, a: int, b: int) -> bool:
    skip: Callable[[int, int], bool] = ffi.from_handle(context)
    return skip(a, b)


# ---- arrays ----


def vectors(values: Any, what: str, width: int = 3) -> FloatArray:
    """An array of shape (N, width), without a copy where it is contiguous and float64 already."""
    array: FloatArray = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != width:
        raise InputError(f"{what} must have shape (..., {width}), not {array.shape}")
    return array


def poses_of(values: Any, what: str = "poses") -> FloatArray:
    """Poses as (..., 7): x, y, z in metres and a unit quaternion w, x, y, z. Takes matrices of shape (..., 4, 4), too."""
    array: FloatArray = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim >= 1 and array.shape[-1] == 7:
        return array
    if array.ndim >= 2 and array.shape[-2:] == (4, 4):
        return matrix_to_pose(array)
    raise InputError(f"{what} must have shape (..., 7) or (..., 4, 4), not {array.shape}")


def matrix_to_pose(matrices: npt.ArrayLike) -> FloatArray:
    """Rigid 4 x 4 matrices as poses (..., 7).

    >>> import numpy as np, feeler
    >>> feeler.matrix_to_pose(np.eye(4)).tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    """
    m = np.asarray(matrices, dtype=np.float64)
    if m.shape[-2:] != (4, 4):
        raise InputError(f"matrices must have shape (..., 4, 4), not {m.shape}")
    r = m[..., :3, :3]
    turned = np.einsum("...ij,...kj->...ik", r, r)
    if not np.allclose(turned, np.eye(3), atol=1e-6) or not np.all(np.linalg.det(r) > 0):
        raise InputError("a matrix of a pose must be a rotation and a translation, without scale or mirror")
    # the largest of the four components is found first, so that no difference of nearly equal numbers decides
    d = np.stack(
        [
            r[..., 0, 0] + r[..., 1, 1] + r[..., 2, 2],
            r[..., 0, 0] - r[..., 1, 1] - r[..., 2, 2],
            r[..., 1, 1] - r[..., 0, 0] - r[..., 2, 2],
            r[..., 2, 2] - r[..., 0, 0] - r[..., 1, 1],
        ],
        axis=-1,
    )
    k = np.zeros(m.shape[:-2] + (4, 4))
    k[..., [0, 1, 2, 3], [0, 1, 2, 3]] = 1 + d
    for i, (a, b) in enumerate([(2, 1), (0, 2), (1, 0)]):
        k[..., 0, i + 1] = k[..., i + 1, 0] = r[..., a, b] - r[..., b, a]
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        k[..., a + 1, b + 1] = k[..., b + 1, a + 1] = r[..., a, b] + r[..., b, a]
    best = np.argmax(d, axis=-1)
    q = np.take_along_axis(k, best[..., None, None], axis=-2)[..., 0, :]
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    return np.ascontiguousarray(np.concatenate([m[..., :3, 3], q], axis=-1))


def pose_to_matrix(poses: npt.ArrayLike) -> FloatArray:
    """Poses (..., 7) as 4 x 4 matrices.

    >>> import feeler
    >>> feeler.pose_to_matrix([1, 2, 3, 1, 0, 0, 0])[:3, 3].tolist()
    [1.0, 2.0, 3.0]
    """
    p = vectors(poses, "poses", 7)
    w, x, y, z = (p[..., 3 + i] for i in range(4))
    m = np.zeros(p.shape[:-1] + (4, 4))
    m[..., 0, 0], m[..., 0, 1], m[..., 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    m[..., 1, 0], m[..., 1, 1], m[..., 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    m[..., 2, 0], m[..., 2, 1], m[..., 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    m[..., :3, 3] = p[..., :3]
    m[..., 3, 3] = 1
    return m


class Memory:
    """Memory of the library as an array that is not copied: keeps its owner alive."""

    def __init__(self, pointer: Any, shape: Tuple[int, ...], kind: str, owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "data": (int(ffi.cast("uintptr_t", pointer)), True),
            "shape": shape,
            "typestr": kind,
            "version": 3,
        }


def view(pointer: Any, shape: Tuple[int, ...], kind: str, owner: Any) -> npt.NDArray[Any]:
    if 0 in shape:
        return np.zeros(shape, kind)
    return np.asarray(Memory(pointer, shape, kind, owner))


def struct_dtype(name: str, fields: Iterator[Tuple[str, str, Any, Any]]) -> np.dtype[Any]:
    """The numpy type of a C structure: (name here, path in C, numpy type, shape) for each field."""
    names, formats, offsets = [], [], []
    for key, path, kind, shape in fields:
        names.append(key)
        formats.append((kind, shape))
        offsets.append(ffi.offsetof(name, *[int(p) if p.isdigit() else p for p in path.split(".")]))
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": ffi.sizeof(name)})


def unit_metres(unit: Union[str, float, None]) -> float:
    """Metres per unit; 0 for None: what the format says, else millimetres."""
    if unit is None:
        return 0.0
    if isinstance(unit, str):
        metres, error = ffi.new("double *"), ffi.new("flr_error *")
        check(lib.flr_unit_parse(unit.encode(), metres, error), error)
        return float(metres[0])
    if not unit > 0:
        raise InputError(f"a unit is a positive number of metres, not {unit}")
    return float(unit)


lock = threading.Lock
