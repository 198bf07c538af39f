"""Scenes and assemblies: parts, clashes, removal paths."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from feeler import _core
from feeler._core import FloatArray, PathLike, Progress, check, poses_of
from feeler._native import ffi, lib
from feeler.mesh import Mesh, mesh_options

Source = Union[str, "os.PathLike[str]", Mapping[str, Any]]
KINDS = ("static", "movable", "free")
ENGINES = ("shell", "spheres", "exact", "coherent")
STATES = ("ok", "near", "contact", "overlap")


def _pose(T: Any) -> FloatArray:
    return np.array([T.p.x, T.p.y, T.p.z, T.q.w, T.q.x, T.q.y, T.q.z])


def _vec(v: Any) -> FloatArray:
    return np.array([v.x, v.y, v.z])


def _c_pose(pose: npt.ArrayLike) -> Any:
    p = poses_of(pose, "a pose")
    if p.shape != (7,):
        raise _core.InputError(f"one pose is needed, not an array of shape {p.shape}")
    return ffi.new("flr_pose *", {"p": list(p[:3]), "q": list(p[3:])})[0]


def import_scene(path: PathLike, out: PathLike, *, unit: Union[str, float, None] = None,
                 progress: Optional[Progress] = None) -> None:
    """Makes a scene file of a STEP assembly, a mesh, a URDF or an MJCF file; the meshes are written beside it. `progress` is called
    with 0 now and then while a foreign format is read; if it returns False, that is cancelled.

    >>> import feeler, tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     part, scene = os.path.join(folder, "part.stl"), os.path.join(folder, "scene.json")
    ...     feeler.Mesh.box((1, 1, 1)).save(part)
    ...     feeler.import_scene(part, scene)
    ...     feeler.Scene(scene).names
    ['part']
    """
    watch = _core.Watch(progress)
    error, options = ffi.new("flr_error *"), mesh_options(unit, 0.0, False, 0.0)
    options.go_on, options.context = lib.feeler_go_on, watch.handle
    watch.check(lib.flr_scene_world_import(lib.flr_env_real(), _core.path_bytes(path), _core.path_bytes(out), options, error),
                error)


class _Opened:
    """A scene of the library, with what it needs to be opened again in another process."""

    def __init__(self, source: Source, **settings: Any) -> None:
        self.source, self.settings = source, settings
        self.folder: Optional[tempfile.TemporaryDirectory[str]] = None
        self.lock = _core.lock()
        progress = settings.pop("progress", None)
        watch = _core.Watch(progress)
        definition = ffi.new("flr_scene_world_def *", lib.flr_default_scene_world_def())
        self.meshes: Dict[int, Mesh] = {}
        definition.options = mesh_options(settings.get("unit"), 0.0, False, 0.0)[0]
        definition.options.go_on, definition.options.context = lib.feeler_go_on, watch.handle
        for name in ("parts_only", "voxel", "hands", "rate", "threads"):
            if name in settings:
                setattr(definition, name, settings[name])
        engine = settings.get("engine")
        if engine is not None:
            if engine not in ENGINES:
                raise _core.InputError(f'"{engine}" is no engine; there are {", ".join(ENGINES)}')
            definition.engine_given, definition.engine = True, ENGINES.index(engine)
        cache = settings.get("cache")
        folder = ffi.new("char[]", _core.path_bytes(cache)) if cache else ffi.NULL
        definition.cache = folder
        definition.progress, definition.progress_context = lib.feeler_progress, watch.handle
        error, out = ffi.new("flr_error *"), ffi.new("flr_scene_world **")
        path = self._file(source)
        watch.check(lib.flr_scene_world_open(lib.flr_env_real(), _core.path_bytes(path), definition, out, error), error)
        self.scene = ffi.gc(out[0], lib.flr_scene_world_destroy)

    def _file(self, source: Source) -> str:
        if isinstance(source, Mapping):
            self.folder = tempfile.TemporaryDirectory(prefix="feeler-")
            path = os.path.join(self.folder.name, "scene.json")
            scene = json.loads(json.dumps(source))
            for part in scene.get("parts", []):
                if isinstance(part, dict) and isinstance(part.get("file"), str):
                    part["file"] = os.path.abspath(part["file"])
            Path(path).write_text(json.dumps(scene), encoding="utf-8")
            return path
        path = os.fspath(source)
        if path.lower().endswith((".json", ".cfg")):
            return path
        self.folder = tempfile.TemporaryDirectory(prefix="feeler-")
        out = os.path.join(self.folder.name, "scene.json")
        import_scene(path, out, unit=self.settings.get("unit"))
        return out

    def parts(self) -> Iterator[Any]:
        for i in range(lib.flr_scene_world_part_count(self.scene)):
            yield lib.flr_scene_world_part_at(self.scene, i)

    def mesh(self, pointer: Any) -> Mesh:
        """Parts with the same mesh share one, and with it what is built for distances."""
        return self.meshes.setdefault(int(ffi.cast("uintptr_t", pointer)), Mesh._from_pointer(pointer, self.scene))


class ScenePart:
    """A part of a scene: name, group, kind ("static", "movable", "free"), pose and mesh.

    `chord` says how far its triangles may stray from the exact surface (0: not known); `keep_out` is a zone that no part may
    enter; all parts pass through one that `passes`; those with the same number in `rigid`,
    above 0, move as one.

    >>> import feeler
    >>> box = feeler.demo_scene()
    >>> feeler.Scene(box).parts["peg"].kind
    'movable'
    """

    def __init__(self, opened: _Opened, index: int, part: Any) -> None:
        self.index = index
        self.name: str = ffi.string(part.name).decode()
        self.group: str = ffi.string(part.group).decode()
        self.kind: str = KINDS[part.kind]
        self.pose: FloatArray = _pose(part.T_world_part)
        self.keep_out: bool = part.keep_out
        self.chord: float = part.chord
        self.passes: bool = part.passes
        self.rigid: int = part.rigid
        self.mesh: Mesh = opened.mesh(part.mesh)

    def __repr__(self) -> str:
        return f"<feeler.ScenePart {self.name!r}, {self.kind}>"


class Named(Dict[str, Any]):
    """Parts or joints by name, or by index.

    >>> import feeler
    >>> parts = feeler.Scene(feeler.demo_scene()).parts
    >>> parts["peg"] is parts[1]
    True
    """

    def __getitem__(self, key: Union[str, int]) -> Any:
        if isinstance(key, (int, np.integer)):
            return list(self.values())[int(key)]
        try:
            return super().__getitem__(key)
        except KeyError:
            raise _core.MissingError(f'there is no "{key}"; there are {", ".join(self)}') from None


class Scene:
    """The parts of a scene file, CAD assembly, URDF or MJCF file, or of a dict with the content of a scene file.

    >>> import feeler
    >>> feeler.Scene(feeler.demo_scene()).names
    ['block', 'peg']
    """

    def __init__(self, source: Source, *, unit: Union[str, float, None] = None, progress: Optional[Progress] = None) -> None:
        self._opened = _Opened(source, parts_only=True, unit=unit, progress=progress)
        self.parts: Named = Named()
        for index, part in enumerate(self._opened.parts()):
            made = ScenePart(self._opened, index, part)
            self.parts[made.name] = made

    @property
    def names(self) -> List[str]:
        """Names of the parts, in the scene's order.

        >>> import feeler
        >>> feeler.Scene(feeler.demo_scene()).names[0]
        'block'
        """
        return list(self.parts)

    def __reduce__(self) -> Any:
        return _reopen, (Scene, self._opened.source, {k: v for k, v in self._opened.settings.items() if k == "unit"})


def _reopen(kind: Any, source: Any, settings: Dict[str, Any]) -> Any:
    return kind(source, **settings)


def _scene(source: Union[Source, Scene]) -> Scene:
    return source if isinstance(source, Scene) else Scene(source)


# ---- clashes ----


@dataclass(frozen=True)
class Clash:
    """Two parts that are near: `state` is "overlap", "contact", "near" or "ok". Metres, world's frame. A contact with `facets` above 0
    is a nominal fit: triangles of curved surfaces overlap by `depth`, and their facets explain that much."""

    a: str
    b: str
    state: str
    distance: float
    error: float
    depth: float
    volume: float
    points: FloatArray
    at: FloatArray
    facets: float


def clash(source: Union[Source, Scene], *, clearance: float = 0.0, touch: Optional[float] = None, all: bool = False,
          allow: Sequence[Tuple[str, str]] = (), threads: int = 0, progress: Optional[Progress] = None) -> List[Clash]:
    """Checks every pair of parts: overlaps, contacts, and what is nearer than the clearance; worst first.

    Pairs that the scene allows, that a joint ties, or that `allow` names are left out. `all` lists pairs that are fine,
    too, as far as boxes do not rule them out. What is at most `touch` apart is in contact; None: a thousandth of the
    smaller part's diagonal, at most 1e-5.

    >>> import feeler
    >>> [(c.state, round(c.distance, 6)) for c in feeler.clash(feeler.demo_scene(), clearance=1e-3)]
    [('near', 0.0005)]
    """
    scene = _scene(source)
    parts = list(scene.parts.values())
    listed = ffi.new("flr_clash_part[]", max(1, len(parts)))
    for i, part in enumerate(parts):
        listed[i].fit, listed[i].T_world_part, listed[i].keep_out = part.mesh._fit(), _c_pose(part.pose), part.keep_out
        listed[i].chord = part.chord
    allowed = {frozenset(pair) for pair in allow}
    for name in {n for pair in allowed for n in pair}:
        scene.parts[name]

    def skip(a: int, b: int) -> bool:
        if lib.flr_scene_world_allows(scene._opened.scene, a, b):
            return True
        return frozenset((parts[a].name, parts[b].name)) in allowed

    watch, skipping = _core.Watch(progress), ffi.new_handle(skip)
    definition = ffi.new("flr_clash_def *", lib.flr_default_clash_def())
    definition.parts, definition.part_count = listed, len(parts)
    definition.clearance, definition.touch, definition.all, definition.threads = clearance, -1 if touch is None else touch, all, threads
    definition.skip, definition.skip_context = lib.feeler_skip, skipping
    definition.progress, definition.progress_context = lib.feeler_progress, watch.handle
    error, found = ffi.new("flr_error *"), ffi.new("flr_clash_list *")
    watch.check(lib.flr_clash_find(definition, found, error), error)
    made = [
        Clash(parts[p.a].name, parts[p.b].name, STATES[p.state], p.distance, p.error, p.depth, p.volume,
              np.array([_vec(p.point[0]), _vec(p.point[1])]), _vec(p.at), p.facets)
        for p in (found.pairs[i] for i in range(found.pair_count))
    ]
    lib.flr_clash_list_free(found)
    return made


# ---- removal paths ----


@dataclass(frozen=True)
class Blocker:
    """A part in the way: `sole` if the part comes out without it."""

    part: str
    sole: bool
    stops: int
    at: FloatArray


@dataclass(frozen=True)
class Plan:
    """A removal path, or why there is none. `poses` (N, 7) are those of the first moving part; `lower` is a proven least
    distance along the way (inf: nothing is near)."""

    found: bool
    method: str
    poses: FloatArray
    lower: float
    upper: float
    length: float
    turn: float
    blockers: List[Blocker]
    seconds: float


@dataclass(frozen=True)
class Verdict:
    """Whether a path is free; else where it is first not: between which poses (2.5: halfway from 2 to 3), how near, by
    which part."""

    free: bool
    lower: float
    upper: float
    at: float
    distance: float
    part: str


class _Space:
    """What moves and what stands, as the planner wants it."""

    def __init__(self, source: Union[Source, Scene], part: Union[str, Sequence[str], None], clearance: float) -> None:
        self.scene = scene = _scene(source)
        parts = list(scene.parts.values())
        names = None if part is None else [part] if isinstance(part, str) else list(part)
        leads = names[0] if names else None
        for name in names or []:
            scene.parts[name]
        members = ffi.new("flr_plan_member[]", max(1, len(parts)))
        for i, p in enumerate(parts):
            moves = p.kind != "static" if names is None else p.name in names
            members[i] = (_c_pose(p.pose), p.rigid, moves, p.name == leads, p.passes)
        bodies = lib.flr_plan_count_bodies(members, len(parts))
        if names is None and bodies != 1:
            raise _core.InputError(f"there are {bodies} movable parts: name the one that moves, part=...")
        order, self.listed = ffi.new("uint32_t[]", max(1, len(parts))), ffi.new("flr_plan_part[]", max(1, len(parts)))
        roles = lib.flr_plan_sort(members, len(parts), order, self.listed)
        listed = [parts[order[i]] for i in range(roles.moving + roles.standing)]
        self.standing = listed[roles.moving:]
        if not roles.standing or not roles.moving:
            raise _core.InputError("something must move and something must stand in its way")
        self.start = listed[0].pose
        for i, p in enumerate(listed):
            self.listed[i].fit = p.mesh._fit()
        self.definition = ffi.new("flr_plan_def *", lib.flr_default_plan_def())
        self.definition.moving, self.definition.moving_count = self.listed, roles.moving
        self.definition.obstacles, self.definition.obstacle_count = self.listed + roles.moving, roles.standing
        self.definition.clearance = clearance

    def name(self, obstacle: int) -> str:
        return str(self.standing[obstacle].name) if obstacle < len(self.standing) else ""


def plan(source: Union[Source, Scene], part: Union[str, Sequence[str], None] = None, *, clearance: float = 0.0,
         to: Optional[npt.ArrayLike] = None, seconds: float = 60.0, seed: int = 1, threads: int = 0,
         progress: Optional[Progress] = None) -> Plan:
    """Looks for a path on which a part (or several, as one body) comes out of the assembly, or to the pose `to`.

    Whole rigid groups move, and parts that others pass through are not in the way. The poses are those of the first part named.
    What is found is checked exactly. `progress` gets the seconds that went by; where it returns False, a path that was found
    already is kept, and without one `Cancelled` is raised. Without a part, the only movable one moves.

    >>> import feeler
    >>> way = feeler.plan(feeler.demo_scene(), part="peg", seconds=20)
    >>> way.found, len(way.poses) >= 2
    (True, True)
    """
    space = _Space(source, part, clearance)
    watch = _core.Watch(progress)
    search = ffi.new("flr_plan_search *", lib.flr_default_plan_search())
    setattr(search, "from", _c_pose(space.start))
    if to is not None:
        search.to_given, search.to = True, _c_pose(to)
    search.seconds, search.seed, search.threads = seconds, seed, threads
    search.progress, search.progress_context = lib.feeler_search, watch.handle
    error, found = ffi.new("flr_error *"), ffi.new("flr_plan_result *")
    try:
        watch.check(lib.flr_plan_find(lib.flr_env_real(), space.definition, search, found, error), error)
        if found.stopped and not found.pose_count:
            raise _core.Cancelled("stopped before a path was found")
        poses = np.empty((found.pose_count, 7))
        if found.pose_count:
            ffi.memmove(ffi.from_buffer(poses), found.poses, poses.nbytes)
        return Plan(
            found.pose_count > 0, ffi.string(lib.flr_plan_method_name(found.method)).decode(), poses, found.verdict.lower,
            found.verdict.upper, found.length, found.turn,
            [Blocker(space.name(b.obstacle), b.sole, b.stops, _vec(b.at))
             for b in (found.blockers[i] for i in range(found.blocker_count))],
            found.seconds)
    finally:
        lib.flr_plan_result_free(found)


def verify(source: Union[Source, Scene], poses: npt.ArrayLike, part: Union[str, Sequence[str], None] = None, *,
           clearance: float = 0.0) -> Verdict:
    """Checks a path (N, 7) of a part exactly, between its poses as well.

    >>> import feeler
    >>> scene = feeler.demo_scene()
    >>> out = [[0, 0, 0.01, 1, 0, 0, 0], [0, 0, 0.2, 1, 0, 0, 0]]
    >>> aside = [[0, 0, 0.01, 1, 0, 0, 0], [0.2, 0, 0.01, 1, 0, 0, 0]]
    >>> feeler.verify(scene, out).free, feeler.verify(scene, aside).free
    (True, False)
    """
    space = _Space(source, part, clearance)
    p = poses_of(poses)
    if p.ndim != 2 or not len(p):
        raise _core.InputError(f"a path has shape (N, 7), not {p.shape}")
    error, out, verdict = ffi.new("flr_error *"), ffi.new("flr_plan_space **"), ffi.new("flr_plan_verdict *")
    check(lib.flr_plan_space_create(space.definition, out, error), error)
    made = ffi.gc(out[0], lib.flr_plan_space_destroy)
    watch = _core.Watch(None)
    lib.flr_plan_space_watch(made, lib.feeler_go_on, watch.handle)
    watch.check(lib.flr_plan_verify(made, ffi.from_buffer("flr_pose[]", p), len(p), verdict, error), error)
    place = verdict.nearest if verdict.free else verdict.violation
    return Verdict(verdict.free, verdict.lower, verdict.upper, place.at, place.distance, space.name(place.obstacle))
