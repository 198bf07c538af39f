"""Meshes: loading, distances of points, segments, voxels."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from feeler import _core
from feeler._core import FloatArray, PathLike, Progress, check, vectors
from feeler._native import ffi, lib

IntArray = npt.NDArray[np.uint32]
NONE = 0xFFFFFFFF


class ClosestPoints(NamedTuple):
    """Of each point: the signed distance, the closest point of the surface, and the triangle that it lies on."""

    distance: FloatArray
    point: FloatArray
    triangle: IntArray


class Hits(NamedTuple):
    """Of each segment: the share of it before the first hit (inf: none), place, normal and triangle (4294967295: none)."""

    t: FloatArray
    point: FloatArray
    normal: FloatArray
    triangle: IntArray


class Voxels(NamedTuple):
    """A part as voxels: marks (0 free, 1 interior, 2 surface, 2 + d free at distance d), and its surface points."""

    marks: npt.NDArray[np.uint8]
    origin: FloatArray
    size: float
    points: FloatArray
    normals: FloatArray


_HIT = _core.struct_dtype(
    "flr_probe_hit",
    iter([("t", "t", "f8", ()), ("point", "point", "f8", 3), ("normal", "normal", "f8", 3), ("triangle", "triangle", "u4", ())]),
)


class Mesh:
    """A part as triangles, in metres.

    `vertices` is (N, 3) and `faces` (M, 3); without faces, vertices come in threes. A mesh does not change and may be
    shared by all threads. Trees for distances and segments are built when they are needed first.

    >>> import feeler, numpy as np
    >>> cube = feeler.Mesh.box((1, 1, 1))
    >>> cube.faces.shape
    (12, 3)
    >>> cube.signed_distance([[0, 0, 0], [2, 0, 0]]).tolist()
    [-0.5, 1.5]
    """

    def __init__(self, vertices: npt.ArrayLike, faces: Optional[npt.ArrayLike] = None, *, unit: Union[str, float] = 1.0,
                 weld: float = 0.0) -> None:
        v = vectors(vertices, "vertices").reshape(-1, 3)
        definition = ffi.new("flr_mesh_def *", lib.flr_default_mesh_def())
        definition.vertices = ffi.from_buffer("flr_vec3[]", v) if len(v) else ffi.NULL
        definition.vertex_count = len(v)
        keep: Any = None
        if faces is not None:
            given = np.asarray(faces)
            if given.ndim != 2 or given.shape[1] != 3:
                raise _core.InputError(f"faces must have shape (N, 3), not {given.shape}")
            if given.size and (not np.issubdtype(given.dtype, np.integer) or given.min() < 0 or given.max() > NONE):
                raise _core.InputError("faces must be indices of vertices, from 0 on")
            keep = np.ascontiguousarray(given, dtype=np.uint32)
            definition.triangles = ffi.from_buffer("flr_triangle[]", keep)
            definition.triangle_count = len(keep)
            if not len(keep):
                raise _core.InputError("a mesh needs at least one triangle")
        definition.scale = _core.unit_metres(unit) or 1.0
        definition.weld = weld
        error, out = ffi.new("flr_error *"), ffi.new("flr_mesh **")
        check(lib.flr_mesh_create(definition, out, error), error)
        self._own(ffi.gc(out[0], lib.flr_mesh_destroy), None)

    def _own(self, pointer: Any, owner: Any) -> None:
        self._mesh = pointer
        self._owner = owner
        self._lock = _core.lock()
        self._fit_: Any = None
        self._surface_: Any = None
        self._probe_: Any = None

    @classmethod
    def _from_pointer(cls, pointer: Any, owner: Any = None) -> "Mesh":
        made = cls.__new__(cls)
        made._own(pointer, owner)
        return made

    @classmethod
    def box(cls, size: Tuple[float, float, float]) -> "Mesh":
        """A box around the origin, with edges of these lengths in metres.

        >>> import feeler
        >>> feeler.Mesh.box((1, 2, 3)).area
        22.0
        """
        corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
        quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        return cls(corners, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])

    @classmethod
    def of(cls, thing: Any) -> "Mesh":
        """A mesh from another library's: trimesh.Trimesh, open3d.geometry.TriangleMesh, or whatever has `vertices` and
        `faces` or `triangles`. A Mesh is returned as it is, and so is what `load` makes of a path.

        >>> import feeler, types
        >>> cube = feeler.Mesh.box((1, 1, 1))
        >>> feeler.Mesh.of(types.SimpleNamespace(vertices=cube.vertices, faces=cube.faces)).area
        6.0
        """
        if isinstance(thing, Mesh):
            return thing
        if isinstance(thing, str) or hasattr(thing, "__fspath__"):
            return load(thing)
        for name in ("faces", "triangles"):
            if hasattr(thing, "vertices") and hasattr(thing, name):
                return cls(np.asarray(thing.vertices), np.asarray(getattr(thing, name)))
        raise _core.InputError(f"a {type(thing).__name__} is no mesh: it has no vertices and faces")

    # ---- what it is ----

    @property
    def vertices(self) -> FloatArray:
        """Welded vertices, (N, 3) metres; the library's own memory, not writable.

        >>> import feeler
        >>> feeler.Mesh.box((1, 1, 1)).vertices.shape
        (8, 3)
        """
        return _core.view(self._mesh.vertices, (self._mesh.vertex_count, 3), "<f8", self)

    @property
    def faces(self) -> IntArray:
        """Three vertices of each triangle, (M, 3); the library's own memory, not writable.

        >>> import feeler
        >>> feeler.Mesh.box((1, 1, 1)).faces.dtype.name
        'uint32'
        """
        return _core.view(self._mesh.triangles, (self._mesh.triangle_count, 3), "<u4", self)

    @property
    def bounds(self) -> FloatArray:
        """Low and high corner of the box around it, (2, 3) metres.

        >>> import feeler
        >>> feeler.Mesh.box((2, 2, 2)).bounds.tolist()
        [[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]
        """
        b = self._mesh.bounds
        return np.array([[b.low.x, b.low.y, b.low.z], [b.high.x, b.high.y, b.high.z]])

    @property
    def area(self) -> float:
        """Of all triangles, square metres.

        >>> import feeler
        >>> feeler.Mesh.box((1, 1, 1)).area
        6.0
        """
        return float(lib.flr_mesh_area(self._mesh))

    @property
    def is_solid(self) -> bool:
        """Closed, without self-intersections, all triangles turned alike.

        >>> import feeler
        >>> feeler.Mesh.box((1, 1, 1)).is_solid
        True
        """
        return bool(lib.flr_fit_get_info(self._fit()).solid)

    @property
    def hash(self) -> str:
        """32 hexadecimal digits: equal meshes have equal ones on every machine.

        >>> import feeler
        >>> feeler.Mesh.box((1, 1, 1)).hash == feeler.Mesh.box((1, 1, 1)).hash
        True
        """
        h = lib.flr_mesh_hash(self._mesh)
        return f"{h.high:016x}{h.low:016x}"

    def __repr__(self) -> str:
        return f"<feeler.Mesh of {self._mesh.triangle_count} triangles>"

    def __reduce__(self) -> Any:
        return Mesh, (np.array(self.vertices), np.array(self.faces))

    def save(self, path: PathLike, *, unit: Union[str, float] = "mm") -> None:
        """Writes .stl, .obj, .ply or .itri, by the name's ending, in this unit.

        >>> import feeler, tempfile, os
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "cube.ply")
        ...     feeler.Mesh.box((1, 1, 1)).save(path)
        ...     feeler.load(path).area
        6.0
        """
        error = ffi.new("flr_error *")
        check(lib.flr_mesh_write(lib.flr_env_real(), _core.path_bytes(path), self._mesh, _core.unit_metres(unit), error), error)

    # ---- trees ----

    def _fit(self, progress: Optional[Progress] = None) -> Any:
        with self._lock:
            if self._fit_ is None:
                watch = _core.Watch(progress)
                definition = ffi.new("flr_fit_def *", lib.flr_default_fit_def())
                definition.progress, definition.progress_context = lib.feeler_progress, watch.handle
                error, out = ffi.new("flr_error *"), ffi.new("flr_fit **")
                watch.check(lib.flr_fit_build(self._mesh, definition, out, error), error)
                self._fit_ = ffi.gc(out[0], lib.flr_fit_destroy)
            return self._fit_

    def _surface(self) -> Any:
        fit = self._fit()
        with self._lock:
            if self._surface_ is None:
                error, out = ffi.new("flr_error *"), ffi.new("flr_batch_surface **")
                check(lib.flr_batch_surface_build(self._mesh, fit, out, error), error)
                self._surface_ = ffi.gc(out[0], lib.flr_batch_surface_destroy)
            return self._surface_

    def _probe(self) -> Any:
        with self._lock:
            if self._probe_ is None:
                definition = ffi.new("flr_probe_def *", lib.flr_default_probe_def())
                definition.mesh = self._mesh
                error, out = ffi.new("flr_error *"), ffi.new("flr_probe_model **")
                check(lib.flr_probe_model_create(definition, out, error), error)
                self._probe_ = ffi.gc(out[0], lib.flr_probe_model_destroy)
            return self._probe_

    # ---- queries ----

    def _ask(self, points: npt.ArrayLike, threads: int, progress: Optional[Progress], where: bool) -> ClosestPoints:
        p = vectors(points, "points")
        count, shape = p.size // 3, p.shape[:-1]
        distance: FloatArray = np.empty(shape)
        near: FloatArray = np.empty(p.shape if where else 0)
        number: IntArray = np.empty(shape if where else 0, np.uint32)
        watch, options = _options(threads, progress, count > 4096)
        error = ffi.new("flr_error *")
        code = lib.flr_batch_points(
            self._surface(), ffi.from_buffer("flr_vec3[]", p), count, options, ffi.from_buffer("double[]", distance),
            ffi.from_buffer("flr_vec3[]", near) if where else ffi.NULL,
            ffi.from_buffer("uint32_t[]", number) if where else ffi.NULL, error)
        watch.check(code, error)
        return ClosestPoints(distance, near, number)

    def signed_distance(self, points: npt.ArrayLike, *, threads: int = 0, progress: Optional[Progress] = None) -> FloatArray:
        """Distance of points (..., 3) to the surface, in metres, negative inside. Exact: equal to comparing with every
        triangle, up to rounding. nan for points that are not finite.

        >>> import feeler
        >>> feeler.Mesh.box((2, 2, 2)).signed_distance([[0, 0, 0.25], [4, 5, 0]]).tolist()
        [-0.75, 5.0]
        """
        return self._ask(points, threads, progress, False).distance

    def closest(self, points: npt.ArrayLike, *, threads: int = 0, progress: Optional[Progress] = None) -> ClosestPoints:
        """Signed distance, closest point of the surface and its triangle, for points (..., 3).

        >>> import feeler
        >>> feeler.Mesh.box((2, 2, 2)).closest([[4, 5, 0]]).point.tolist()
        [[1.0, 1.0, 0.0]]
        """
        return self._ask(points, threads, progress, True)

    def contains(self, points: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Which points (..., 3) are inside.

        >>> import feeler
        >>> feeler.Mesh.box((2, 2, 2)).contains([[0, 0, 0], [3, 0, 0]]).tolist()
        [True, False]
        """
        return self.signed_distance(points) < 0

    def segments(self, start: npt.ArrayLike, end: npt.ArrayLike, *, threads: int = 0,
                 progress: Optional[Progress] = None) -> Hits:
        """The first triangle that each segment from start (..., 3) to end (..., 3) meets. Exact: no segment slips through
        an edge.

        >>> import feeler
        >>> hits = feeler.Mesh.box((2, 2, 2)).segments([[-3, 0, 0], [-3, 5, 0]], [[3, 0, 0], [3, 5, 0]])
        >>> hits.point[0].tolist(), bool(hits.t[1] == float("inf"))
        ([-1.0, 0.0, 0.0], True)
        """
        a, b = np.broadcast_arrays(vectors(start, "start"), vectors(end, "end"))
        ends = np.ascontiguousarray(np.stack([a, b], axis=-2))
        hits = np.zeros(a.shape[:-1], _HIT)
        watch, options = _options(threads, progress, hits.size > 4096)
        error = ffi.new("flr_error *")
        watch.check(lib.flr_batch_segments(self._probe(), ffi.from_buffer("flr_vec3[]", ends), hits.size, options,
                                           ffi.from_buffer("flr_probe_hit[]", hits), error), error)
        return Hits(hits["t"], hits["point"], hits["normal"], hits["triangle"])

    def voxelize(self, size: float, *, on_surface: bool = False, threads: int = 0,
                 progress: Optional[Progress] = None) -> Voxels:
        """Voxels of this edge length in metres, as arrays; `on_surface` moves the points onto the exact surface.

        >>> import feeler
        >>> voxels = feeler.Mesh.box((0.01, 0.01, 0.01)).voxelize(0.001)
        >>> int((voxels.marks == 1).sum()) > 500
        True
        """
        watch = _core.Watch(progress)
        definition = ffi.new("flr_voxelize_def *", lib.flr_default_voxelize_def())
        definition.voxel, definition.on_surface, definition.threads = size, on_surface, threads
        definition.progress, definition.context = lib.feeler_stage, watch.handle
        error, voxmap, shell = ffi.new("flr_error *"), ffi.new("flr_voxmap **"), ffi.new("flr_shell **")
        watch.check(lib.flr_voxelize(lib.flr_env_real(), self._mesh, definition, voxmap, shell, ffi.NULL, error), error)
        grid, points = ffi.gc(voxmap[0], lib.flr_voxmap_destroy), ffi.gc(shell[0], lib.flr_shell_destroy)
        info = lib.flr_voxmap_get_info(grid)
        count = info.size[0] * info.size[1] * info.size[2]
        if count > 1 << 34:
            raise _core.InputError(f"{count} voxels are too many for an array; choose larger ones")
        marks = np.empty(tuple(info.size[i] for i in range(3)), np.uint8)
        lib.feeler_voxel_marks(grid, ffi.from_buffer("uint8_t[]", marks))
        places, normals = np.empty((points.total, 3)), np.empty((points.total, 3))
        if points.total:
            lib.feeler_shell_points(points, ffi.from_buffer("flr_vec3[]", places), ffi.from_buffer("flr_vec3[]", normals))
        return Voxels(marks, np.array([info.origin.x, info.origin.y, info.origin.z]), float(info.voxel), places, normals)


def _options(threads: int, progress: Optional[Progress], watched: bool) -> Tuple[_core.Watch, Any]:
    """Options of a batch. Short ones are not watched: a callback takes longer than they do."""
    watch = _core.Watch(progress)
    options = ffi.new("flr_batch_options *")
    options.threads = threads
    if progress is not None or watched:
        options.progress, options.progress_context = lib.feeler_progress, watch.handle
    return watch, options


def load(path: PathLike, *, unit: Union[str, float, None] = None, weld: float = 0.0, tolerant: bool = False,
         chord: float = 0.0) -> Mesh:
    """Reads a mesh file of any format that feeler knows: STL, OBJ, PLY, and STEP, glTF and others by the import helper.

    `unit` is a name such as "mm" or metres per unit; None: what the format says, else millimetres. `tolerant` leaves out
    what cannot be read. `chord`: metres that triangles may stray from exact surfaces of STEP files.

    >>> import feeler, tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "cube.stl")
    ...     feeler.Mesh.box((1, 1, 1)).save(path, unit="m")
    ...     feeler.load(path, unit="m")
    <feeler.Mesh of 12 triangles>
    """
    watch = _core.Watch(None)
    options = mesh_options(unit, weld, tolerant, chord)
    options.go_on, options.context = lib.feeler_go_on, watch.handle
    error, out = ffi.new("flr_error *"), ffi.new("flr_mesh **")
    watch.check(lib.flr_mesh_open(lib.flr_env_real(), _core.path_bytes(path), options, out, ffi.NULL, error), error)
    return Mesh._from_pointer(ffi.gc(out[0], lib.flr_mesh_destroy))


def mesh_options(unit: Union[str, float, None], weld: float, tolerant: bool, chord: float) -> Any:
    options = ffi.new("flr_mesh_options *", lib.flr_default_mesh_options())
    options.unit, options.weld, options.tolerant, options.chord = _core.unit_metres(unit), weld, tolerant, chord
    return options
