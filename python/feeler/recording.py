"""Recordings of feeler run and feeler serve, as arrays."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional

import numpy as np
import numpy.typing as npt

from feeler import _core
from feeler._core import FloatArray, PathLike, Progress, check
from feeler._native import ffi, lib

_HAND = _core.struct_dtype(
    "flr_record_hand",
    iter([("pose", "T_world_hand", "f8", 7), ("twist", "twist", "f8", 6), ("buttons", "buttons", "u4", ()),
          ("part", "part", "u4", ()), ("torque", "wrench.torque", "f8", 3), ("force", "wrench.force", "f8", 3)]),
)
_PART = _core.struct_dtype("flr_record_part", iter([("pose", "T_world_part", "f8", 7), ("motion", "motion", "f8", 6)]))
_FRAME = _core.struct_dtype(
    "flr_record_frame",
    iter([("frame", "frame", "u8", ()), ("time_ns", "time_ns", "i8", ()), ("compute_us", "compute_us", "f8", ()),
          ("contacts", "contacts", "u4", ()), ("penetrations", "penetrations", "u4", ()), ("lower", "lower", "f8", ()),
          ("upper", "upper", "f8", ()), ("energy", "energy", "f8", ()), ("faults", "faults", "u4", ()),
          ("hash", "hash", "u8", ())]),
)


class Recording:
    """An MCAP recording. Arrays have one entry for each frame; poses are (x, y, z, w, x, y, z).

    time (s), contacts, lower, upper (metres), energy (J), compute_us, hash; hand_poses (N, hands, 7), hand_wrench
    (N, hands, 6: force, torque), buttons, held; part_poses (N, parts, 7). `text` gives what the file says of itself, such
    as text("scene").

    >>> import feeler
    >>> r = feeler.Recording(feeler.demo_recording())
    >>> r.part_poses.shape[1:], len(r) > 10, round(float(r.time[1]), 6)
    ((2, 7), True, 0.001)
    """

    def __init__(self, path: PathLike, *, progress: Optional[Progress] = None) -> None:
        error, out = ffi.new("flr_error *"), ffi.new("flr_recording **")
        check(lib.flr_recording_open(lib.flr_env_real(), _core.path_bytes(path), out, error), error)
        self._path = os.path.abspath(path)
        self._recording = recording = ffi.gc(out[0], lib.flr_recording_close)
        frames: List[bytes] = []
        hands: List[bytes] = []
        parts: List[bytes] = []
        view = ffi.new("flr_record_view *")
        frame_size, hand_size, part_size = _FRAME.itemsize, _HAND.itemsize, _PART.itemsize
        while True:
            code = lib.flr_recording_next(recording, view, error)
            if code == lib.FLR_CLOSED:
                break
            check(code, error)
            frames.append(ffi.buffer(ffi.addressof(view.frame), frame_size)[:])
            hands.append(ffi.buffer(view.hands, view.hand_count * hand_size)[:] if view.hand_count else b"")
            parts.append(ffi.buffer(view.parts, view.part_count * part_size)[:] if view.part_count else b"")
            if progress is not None and len(frames) % 1000 == 0 and progress(float(len(frames))) is False:
                raise _core.Cancelled("stopped")
        n = len(frames)
        f = np.frombuffer(b"".join(frames), _FRAME)
        h = np.frombuffer(b"".join(hands), _HAND).reshape(n, view.hand_count)
        p = np.frombuffer(b"".join(parts), _PART).reshape(n, view.part_count)
        self.number: npt.NDArray[np.uint64] = f["frame"].copy()
        self.time: FloatArray = f["time_ns"] * 1e-9
        self.compute_us: FloatArray = f["compute_us"].copy()
        self.contacts: npt.NDArray[np.uint32] = f["contacts"].copy()
        self.lower: FloatArray = f["lower"].copy()
        self.upper: FloatArray = f["upper"].copy()
        self.energy: FloatArray = f["energy"].copy()
        self.faults: npt.NDArray[np.uint32] = f["faults"].copy()
        self.hash: npt.NDArray[np.uint64] = f["hash"].copy()
        self.hand_poses: FloatArray = h["pose"].copy()
        self.hand_wrench: FloatArray = np.concatenate([h["force"], h["torque"]], axis=-1)
        self.buttons: npt.NDArray[np.uint32] = h["buttons"].copy()
        self.held: npt.NDArray[np.uint32] = h["part"].copy()
        self.part_poses: FloatArray = p["pose"].copy()
        self.complete: bool = lib.flr_recording_complete(recording)
        why = ffi.new("flr_error *")
        self.damage: str = ffi.string(why.message).decode() if lib.flr_recording_damaged(recording, why) else ""

    def __reduce__(self) -> Any:
        return Recording, (self._path,)

    def __len__(self) -> int:
        return len(self.time)

    def text(self, key: str) -> Optional[str]:
        """What the recording says of itself under this key; None: nothing.

        >>> import feeler
        >>> feeler.Recording(feeler.demo_recording()).text("no such key") is None
        True
        """
        found = lib.flr_recording_text(self._recording, key.encode())
        return None if found == ffi.NULL else ffi.string(found).decode("utf-8", "replace")

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with one row for each frame and one column for each number; needs pandas.

        >>> import feeler
        >>> "hand0.fz" in feeler.Recording(feeler.demo_recording()).to_pandas()
        True
        """
        import pandas

        columns: Dict[str, Any] = {
            "time": self.time, "contacts": self.contacts, "lower": self.lower, "upper": self.upper, "energy": self.energy,
            "compute_us": self.compute_us,
        }
        for i in range(self.hand_poses.shape[1]):
            for k, name in enumerate(("x", "y", "z", "qw", "qx", "qy", "qz")):
                columns[f"hand{i}.{name}"] = self.hand_poses[:, i, k]
            for k, name in enumerate(("fx", "fy", "fz", "tx", "ty", "tz")):
                columns[f"hand{i}.{name}"] = self.hand_wrench[:, i, k]
        for i in range(self.part_poses.shape[1]):
            for k, name in enumerate(("x", "y", "z", "qw", "qx", "qy", "qz")):
                columns[f"part{i}.{name}"] = self.part_poses[:, i, k]
        return pandas.DataFrame(columns)
