"""Two parts at many relative poses: distances, contacts, free motions."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np
import numpy.typing as npt

from feeler import _core
from feeler._core import FloatArray, Progress, check, poses_of, vectors
from feeler._native import ffi, lib
from feeler.mesh import IntArray, Mesh, _options

_RESULT = _core.struct_dtype(
    "flr_batch_result",
    iter([
        ("distance", "distance", "f8", ()), ("lower", "lower", "f8", ()), ("upper", "upper", "f8", ()),
        ("points", "point", "f8", (2, 3)), ("normal", "normal", "f8", 3),
        ("torque", "wrench.torque", "f8", 3), ("force", "wrench.force", "f8", 3),
        ("triangles", "triangle", "u4", 2), ("contacts", "contacts", "u4", ()),
        ("found", "found", "?", ()), ("meet", "meet", "?", ()), ("complete", "complete", "?", ()),
    ]),
)
_CONTACT = _core.struct_dtype(
    "flr_fit_contact",
    iter([
        ("point", "point", "f8", 3), ("nearest", "nearest", "f8", 3), ("normal", "normal", "f8", 3),
        ("distance", "distance", "f8", ()), ("error", "error", "f8", ()), ("area", "area", "f8", ()),
        ("sample", "sample", "u4", ()), ("triangles", "triangle", "u4", 2), ("side", "side", "u4", ()),
    ]),
)
_MOTION = _core.struct_dtype(
    "flr_fit_motion_result",
    iter([
        ("free", "free", "f8", ()), ("complete", "complete", "?", ()), ("blocked", "blocked", "?", ()),
        ("distance", "distance", "f8", ()), ("points", "point", "f8", (2, 3)), ("normal", "normal", "f8", 3),
        ("triangles", "triangle", "u4", 2), ("meeting", "meeting", "u4", ()),
    ]),
)


class Contacts(NamedTuple):
    """Samples of either surface that are near the other part, of all poses in order."""

    pose: IntArray  # which pose each belongs to
    point: FloatArray  # the sample, frame of a
    normal: FloatArray  # unit: moved this way, b comes off a
    distance: FloatArray  # metres, negative: inside the other part
    error: FloatArray
    area: FloatArray  # square metres that it stands for
    side: IntArray  # 0: a sample of a, 1: of b


class Query:
    """Results of `Pair.query`; each field has one entry for each pose.

    >>> import feeler
    >>> cube = feeler.Mesh.box((1, 1, 1))
    >>> r = feeler.Pair(cube, cube).query([[2, 0, 0, 1, 0, 0, 0], [0.9, 0, 0, 1, 0, 0, 0]])
    >>> r.distance.round(6).tolist()
    [1.0, -0.1]
    >>> r
    <feeler.Query of 2 poses>
    """

    __slots__ = ("_data", "_list")

    def __init__(self, data: npt.NDArray[Any], contacts: Optional[Contacts]) -> None:
        self._data = data
        self._list = contacts

    def __len__(self) -> int:
        return self._data.size

    def __repr__(self) -> str:
        return f"<feeler.Query of {self._data.size} pose{'s' * (self._data.size != 1)}>"

    @property
    def distance(self) -> FloatArray:
        """Metres between the surfaces; negative where the parts interfere, by the depth of the deepest sample.

        >>> import feeler
        >>> cube = feeler.Mesh.box((1, 1, 1))
        >>> float(feeler.Pair(cube, cube).query([3, 0, 0, 1, 0, 0, 0]).distance)
        2.0
        """
        return self._data["distance"]

    @property
    def lower(self) -> FloatArray:
        """The true distance is at least this.

        >>> import feeler
        >>> cube = feeler.Mesh.box((1, 1, 1))
        >>> bool(feeler.Pair(cube, cube).query([3, 0, 0, 1, 0, 0, 0]).lower <= 2)
        True
        """
        return self._data["lower"]

    @property
    def upper(self) -> FloatArray:
        """The true distance is at most this.

        >>> import feeler
        >>> cube = feeler.Mesh.box((1, 1, 1))
        >>> bool(feeler.Pair(cube, cube).query([3, 0, 0, 1, 0, 0, 0]).upper >= 2)
        True
        """
        return self._data["upper"]

    @property
    def error(self) -> FloatArray:
        """Metres by which the distance may be off.

        >>> import feeler
        >>> cube = feeler.Mesh.box((1, 1, 1))
        >>> bool(feeler.Pair(cube, cube).query([3, 0, 0, 1, 0, 0, 0]).error < 1e-12)
        True
        """
        d = self._data
        off: FloatArray = np.maximum(d["upper"] - d["distance"], d["distance"] - d["lower"])
        return off

    @property
    def wrench(self) -> FloatArray:
        """Force and torque on b, (..., 6) in N and N m, about the origin of b, in the axes of a: an elastic foundation
        of `foundation` N/m^3 pushes where samples are nearer than `reach`.

        >>> import feeler
        >>> cube = feeler.Mesh.box((1, 1, 1))
        >>> bool(feeler.Pair(cube, cube).query([0.9, 0, 0, 1, 0, 0, 0]).wrench[0] > 0)
        True
        """
        return np.concatenate([self._data["force"], self._data["torque"]], axis=-1)

    @property
    def points(self) -> FloatArray:
        """Nearest points on a and on b, (..., 2, 3), frame of a.

        >>> import feeler
        >>> cube = feeler.Mesh.box((1, 1, 1))
        >>> feeler.Pair(cube, cube).query([3, 0, 0, 1, 0, 0, 0]).points[:, 0].tolist()
        [0.5, 2.5]
        """
        return self._data["points"]

    @property
    def normals(self) -> FloatArray:
        """Unit vectors (..., 3), frame of a: moved this way, b comes off a.

        >>> import feeler
        >>> cube = feeler.Mesh.box((1, 1, 1))
        >>> feeler.Pair(cube, cube).query([3, 0, 0, 1, 0, 0, 0]).normals.tolist()
        [1.0, 0.0, 0.0]
        """
        return self._data["normal"]

    @property
    def triangles(self) -> IntArray:
        """The nearest triangles of a and of b, (..., 2).

        >>> import feeler
        >>> cube = feeler.Mesh.box((1, 1, 1))
        >>> feeler.Pair(cube, cube).query([3, 0, 0, 1, 0, 0, 0]).triangles.shape
        (2,)
        """
        return self._data["triangles"]

    @property
    def contact_count(self) -> IntArray:
        """Samples that are nearer than `reach`.

        >>> import feeler
        >>> cube = feeler.Mesh.box((1, 1, 1))
        >>> int(feeler.Pair(cube, cube).query([3, 0, 0, 1, 0, 0, 0]).contact_count)
        0
        """
        return self._data["contacts"]

    @property
    def contacts(self) -> Contacts:
        """All contacts of all poses; needs `contacts=True`.

        >>> import feeler
        >>> cube = feeler.Mesh.box((1, 1, 1))
        >>> r = feeler.Pair(cube, cube).query([0.9, 0, 0, 1, 0, 0, 0], contacts=True)
        >>> len(r.contacts.distance) == int(r.contact_count)
        True
        """
        if self._list is None:
            raise _core.InputError("contacts were not asked for: call query(poses, contacts=True)")
        return self._list


class Pair:
    """Two parts. `a` stands, and poses place `b` in its frame. Both are meshes, or what `Mesh.of` takes.

    A pose is (x, y, z, w, x, y, z): metres and a unit quaternion, or a 4 x 4 matrix. Safe in threads: calls on one pair
    wait for each other; make a pair for each thread to have them run at once.

    >>> import feeler, numpy as np
    >>> pair = feeler.Pair(feeler.Mesh.box((1, 1, 1)), feeler.Mesh.box((1, 1, 1)))
    >>> poses = np.zeros((1000, 7)); poses[:, 3] = 1; poses[:, 0] = np.linspace(1, 2, 1000)
    >>> pair.query(poses).distance[-1].round(9)
    1.0
    """

    def __init__(self, a: Any, b: Any, *, progress: Optional[Progress] = None) -> None:
        self.a, self.b = Mesh.of(a), Mesh.of(b)
        fits = self.a._fit(progress), self.b._fit(progress)
        error, out = ffi.new("flr_error *"), ffi.new("flr_batch_pair **")
        check(lib.flr_batch_pair_create(fits[0], fits[1], out, error), error)
        self._pair = ffi.gc(out[0], lib.flr_batch_pair_destroy)
        self._lock = _core.lock()
        self._plain = ffi.new("flr_batch_params *", lib.flr_default_batch_params())
        self._quiet = ffi.new("flr_batch_options *")

    def __reduce__(self) -> Any:
        return Pair, (self.a, self.b)

    def query(self, poses: npt.ArrayLike, *, reach: float = 0.0, max_distance: float = np.inf, tolerance: float = 0.0,
              foundation: float = 1e12, contacts: bool = False, threads: int = 0,
              progress: Optional[Progress] = None) -> Query:
        """Measures the parts at each pose, on all cores, without the GIL.

        `reach`: samples nearer than this are contacts; 0: those that are inside; negative: none are looked for.
        `max_distance`: distances beyond it are inf. `tolerance`: the distance may be too large by this. `foundation`:
        stiffness of the contact, N/m^3. `contacts`: keep the list of them.

        >>> import feeler
        >>> cube = feeler.Mesh.box((1, 1, 1))
        >>> feeler.Pair(cube, cube).query([1.5, 0, 0, 1, 0, 0, 0]).distance.item()
        0.5
        """
        p = poses_of(poses)
        count = p.size // 7
        data = np.empty(p.shape[:-1], _RESULT)
        params = self._plain
        if reach != 0.0 or max_distance != np.inf or tolerance != 0.0 or foundation != 1e12:
            params = ffi.new("flr_batch_params *", self._plain[0])
            params.fit.reach, params.fit.max_distance, params.fit.tolerance = reach, max_distance, tolerance
            params.foundation = foundation
        error = ffi.new("flr_error *")
        if count <= 16 and progress is None and not contacts:
            with self._lock:
                code = lib.flr_batch_poses(self._pair, ffi.from_buffer("flr_pose[]", p), count, params, self._quiet,
                                           ffi.from_buffer("flr_batch_result[]", data), ffi.NULL, error)
            check(code, error)
            return Query(data, None)
        watch, options = _options(threads, progress, True)
        found = ffi.new("flr_batch_contacts *") if contacts else ffi.NULL
        with self._lock:
            code = lib.flr_batch_poses(self._pair, ffi.from_buffer("flr_pose[]", p), count, params, options,
                                       ffi.from_buffer("flr_batch_result[]", data), found, error)
        watch.check(code, error)
        return Query(data, _take_contacts(found) if contacts else None)

    def sweep(self, poses: npt.ArrayLike, *, clearance: float = 0.0, tolerance: float = 1e-7, centre: npt.ArrayLike = (0, 0, 0),
              threads: int = 0, progress: Optional[Progress] = None) -> FloatArray:
        """How much of each motion is free, 0 to 1. Continuous and rigorous: nothing is passed through between poses.

        `poses` (N, 7) is a path with N - 1 motions; (N, 2, 7) are N motions from one pose to another. The parts stay
        `clearance` metres apart. `centre`, a point of b, moves along a straight line.

        >>> import feeler
        >>> cube = feeler.Mesh.box((1, 1, 1))
        >>> feeler.Pair(cube, cube).sweep([[3, 0, 0, 1, 0, 0, 0], [-3, 0, 0, 1, 0, 0, 0]]).round(4).tolist()
        [0.3333]
        """
        p = poses_of(poses)
        if p.ndim == 2:
            p = np.stack([p[:-1], p[1:]], axis=1)
        if p.ndim != 3 or p.shape[1] != 2:
            raise _core.InputError(f"poses must have shape (N, 7) or (N, 2, 7), not {p.shape}")
        motions = np.empty((len(p), 17))
        motions[:, :14] = p.reshape(-1, 14)
        motions[:, 14:] = vectors(centre, "centre")
        data = np.empty(len(p), _MOTION)
        params = ffi.new("flr_fit_motion_params *", lib.flr_default_fit_motion_params())
        params.clearance, params.tolerance = clearance, tolerance
        watch, options = _options(threads, progress, True)
        error = ffi.new("flr_error *")
        with self._lock:
            code = lib.flr_batch_motions(self._pair, ffi.from_buffer("flr_fit_motion[]", motions), len(p), params, options,
                                         ffi.from_buffer("flr_fit_motion_result[]", data), error)
        watch.check(code, error)
        return np.ascontiguousarray(data["free"])


def _take_contacts(found: Any) -> Contacts:
    count = found.count
    data = np.empty(count, _CONTACT)
    pose = np.empty(count, np.uint32)
    if count:
        ffi.memmove(ffi.from_buffer(data), found.list, data.nbytes)
        ffi.memmove(ffi.from_buffer(pose), found.pose, pose.nbytes)
    lib.flr_batch_contacts_free(found)
    return Contacts(pose, data["point"], data["normal"], data["distance"], data["error"], data["area"], data["side"])
