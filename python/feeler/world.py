"""Simulation: a scene with hands, stepped."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from feeler import _core
from feeler._core import FloatArray, Progress, poses_of, vectors
from feeler._native import ffi, lib
from feeler.scene import ENGINES, Named, ScenePart, Source, _c_pose, _Opened, _pose, _vec

NO_PART = 0xFFFFFFFF
_CHUNK = 64  # steps between two looks at signals


class Frame(NamedTuple):
    """What happened in a step. `lower` and `upper` bound the least distance of all pairs, metres."""

    number: int
    contacts: int
    lower: float
    upper: float
    deepest: float
    energy: float
    faults: int
    hash: str


class Trace(NamedTuple):
    """Every step of `World.step(trace=True)`: wrenches on the hands (N, hands, 6), poses of parts (N, parts, 7), and the
    numbers of each frame as arrays."""

    wrench: FloatArray
    poses: FloatArray
    contacts: npt.NDArray[np.uint32]
    lower: FloatArray
    energy: FloatArray


class Gap(NamedTuple):
    """Two parts near each other, exact engine: distance (negative: interference) and nearest points."""

    a: str
    b: str
    distance: float
    points: FloatArray
    normal: FloatArray


class Touch(NamedTuple):
    """What pushed a part in the last step, exact engine: N along the normal, on `part`."""

    part: str
    other: str
    point: FloatArray
    normal: FloatArray
    distance: float
    force: float


_FRAME = _core.struct_dtype(
    "flr_world_frame",
    iter([("contacts", "contacts", "u4", ()), ("lower", "lower", "f8", ()), ("energy", "energy", "f8", ())]),
)


class Hand:
    """A hand of a world. Set `pose`, then step; `wrench` is what a person would feel.

    >>> import feeler
    >>> world = feeler.World(feeler.demo_scene(), engine="exact")
    >>> hand = world.hands[0]
    >>> hand.grab("peg")
    >>> hand.holds
    'peg'
    >>> hand.release()
    >>> hand.holds is None
    True
    """

    def __init__(self, world: "World", index: int) -> None:
        self._world, self._index = world, index
        self._pose: FloatArray = np.array([0.0, 0, 0, 1, 0, 0, 0])

    @property
    def pose(self) -> FloatArray:
        """Where the hand is, (7,); set it to move the hand.

        >>> import feeler
        >>> world = feeler.World(feeler.demo_scene(), engine="exact")
        >>> world.hands[0].pose = [0, 0, 0.1, 1, 0, 0, 0]
        >>> world.hands[0].pose.tolist()
        [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0]
        """
        return self._pose.copy()

    @pose.setter
    def pose(self, value: npt.ArrayLike) -> None:
        p = poses_of(value, "a pose")
        if p.shape != (7,) or not np.isfinite(p).all() or abs(float(np.linalg.norm(p[3:])) - 1) > 1e-6:
            raise _core.InputError("a pose is x, y, z and a unit quaternion w, x, y, z")
        self._pose = p.copy()

    def grab(self, part: Union[str, int]) -> None:
        """Grabs a part, with the hand where the part is.

        >>> import feeler
        >>> world = feeler.World(feeler.demo_scene(), engine="exact")
        >>> world.hands[0].grab("peg"); world.hands[0].pose.tolist() == world.parts["peg"].pose.tolist()
        True
        """
        found = self._world.parts[part]
        T = found.pose
        with self._world._opened.lock:
            taken = lib.flr_world_grab_at(self._world._world, self._index, found.index, _c_pose(T))
        if not taken:
            raise _core.InputError(f'"{found.name}" cannot be grabbed: it is static, or the hand\'s tool is a point')
        self._pose = T

    def release(self) -> None:
        """Lets go.

        >>> import feeler
        >>> feeler.World(feeler.demo_scene(), engine="exact").hands[0].release()
        """
        with self._world._opened.lock:
            lib.flr_world_release(self._world._world, self._index)

    @property
    def holds(self) -> Optional[str]:
        """The name of the part that it holds.

        >>> import feeler
        >>> feeler.World(feeler.demo_scene(), engine="exact").hands[0].holds is None
        True
        """
        part = lib.flr_world_held(self._world._world, self._index)
        return None if part == NO_PART else list(self._world.parts)[part]

    @property
    def wrench(self) -> FloatArray:
        """Force and torque on the hand after the last step, (6,) in N and N m, world's axes, about the hand.

        >>> import feeler
        >>> feeler.World(feeler.demo_scene(), engine="exact").hands[0].wrench.tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        """
        w = lib.flr_world_wrench(self._world._world, self._index)
        return np.concatenate([_vec(w.force), _vec(w.torque)])


class WorldPart(ScenePart):
    """A part of a world: `pose` is where it is now.

    >>> import feeler
    >>> peg = feeler.World(feeler.demo_scene(), engine="exact").parts["peg"]
    >>> peg.velocity.tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """

    def __init__(self, world: "World", index: int, part: Any) -> None:
        self._in = world
        super().__init__(world._opened, index, part)

    @property
    def pose(self) -> FloatArray:  # type: ignore[override]
        """(7,); set it to place the part there, at rest.

        >>> import feeler
        >>> peg = feeler.World(feeler.demo_scene(), engine="exact").parts["peg"]
        >>> peg.pose = [0, 0, 0.5, 1, 0, 0, 0]
        >>> peg.pose[2].item()
        0.5
        """
        return _pose(lib.flr_world_body(self._in._world, self.index).T_world_part)

    @pose.setter
    def pose(self, value: npt.ArrayLike) -> None:
        if isinstance(getattr(self, "mesh", None), type(None)):
            return  # while it is made: the world has its place already
        with self._in._opened.lock:
            placed = lib.flr_world_place(self._in._world, self.index, _c_pose(value))
        if not placed:
            raise _core.InputError(f'"{self.name}" cannot be placed there: it is static, or that is no pose')

    @property
    def velocity(self) -> FloatArray:
        """Linear and angular velocity of the centre of mass, (6,) in m/s and rad/s, world's axes.

        >>> import feeler
        >>> feeler.World(feeler.demo_scene(), engine="exact").parts["peg"].velocity.shape
        (6,)
        """
        t = lib.flr_world_body(self._in._world, self.index).twist
        return np.concatenate([_vec(t.linear), _vec(t.angular)])


class World:
    """A scene as a simulation, without page and device. The same scene and inputs give the same bits in every frame.

    `engine` is "shell", "spheres", "exact" or "coherent"; None: what the scene says, or what suits it. `voxel`: edge
    length in metres. `cache`: a folder for voxels and exact geometry. Safe in threads: calls wait for each other.

    >>> import feeler, numpy as np
    >>> world = feeler.World(feeler.demo_scene(), engine="exact")
    >>> world.hands[0].grab("peg")
    >>> world.hands[0].pose = world.hands[0].pose + np.array([0.001, 0, 0, 0, 0, 0, 0])
    >>> frame = world.step(100)
    >>> frame.number, bool(np.linalg.norm(world.hands[0].wrench[:3]) > 0.1)
    (99, True)
    """

    def __init__(self, scene: Source, *, engine: Optional[str] = None, voxel: float = 0.0, hands: int = 1,
                 rate: float = 1000.0, threads: int = 0, cache: Optional[_core.PathLike] = None,
                 unit: Union[str, float, None] = None, progress: Optional[Progress] = None) -> None:
        if not isinstance(hands, int) or not 1 <= hands <= 8:
            raise _core.InputError(f"a world has 1 to 8 hands, not {hands}")
        settings: Dict[str, Any] = dict(engine=engine, voxel=voxel, hands=hands, rate=rate, threads=threads, cache=cache,
                                        unit=unit)
        self._opened = _Opened(scene, progress=progress, **settings)
        self._world = lib.flr_scene_world_get(self._opened.scene)
        self._inputs = ffi.new("flr_world_input[]", hands)
        self._recorder: Any = ffi.NULL
        self._record_parts: Any = ffi.NULL
        self.rate = rate
        self.hands: List[Hand] = [Hand(self, i) for i in range(hands)]
        self.parts: Named = Named()
        for index, part in enumerate(self._opened.parts()):
            made = WorldPart(self, index, part)
            self.parts[made.name] = made

    @property
    def engine(self) -> str:
        """How contact is found.

        >>> import feeler
        >>> feeler.World(feeler.demo_scene(), engine="exact").engine
        'exact'
        """
        return ENGINES[lib.feeler_world_engine(self._world)]

    def step(self, count: int = 1, *, poses: Optional[npt.ArrayLike] = None, trace: bool = False) -> Any:
        """Steps `count` frames; returns the last `Frame`, or with `trace` a `Trace` of all.

        `poses` (count, 7) or (count, hands, 7) moves the hands frame by frame; else they stay where their `pose` is.

        >>> import feeler
        >>> feeler.World(feeler.demo_scene(), engine="exact").step(10, trace=True).poses.shape
        (10, 2, 7)
        """
        hands, parts = len(self.hands), len(self.parts)
        way: Optional[FloatArray] = None
        if poses is not None:
            way = poses_of(poses)
            if way.ndim == 2:
                way = np.ascontiguousarray(np.repeat(way[:, None, :], hands, axis=1)) if hands == 1 else way
            if way.ndim != 3 or way.shape[1] != hands:
                raise _core.InputError(f"poses must have shape (count, {hands}, 7), not {way.shape}")
            count = len(way)
        if count < 1:
            raise _core.InputError("at least one step is needed")
        size = count if trace else min(count, _CHUNK)
        frames = np.empty(size, _FRAME)
        wrench = np.empty((count, hands, 6)) if trace else None
        places = np.empty((count, parts, 7)) if trace else None
        last = ffi.from_buffer("flr_world_frame[]", frames)
        with self._opened.lock:
            for h, hand in enumerate(self.hands):
                p = hand._pose
                T = self._inputs[h].T_world_hand
                T.p.x, T.p.y, T.p.z, T.q.w, T.q.x, T.q.y, T.q.z = p
            for first in range(0, count, _CHUNK):
                part = min(_CHUNK, count - first)
                at = first if trace else 0
                lib.feeler_world_steps(
                    self._world, self._inputs, hands,
                    ffi.from_buffer("flr_pose[]", way[first : first + part]) if way is not None else ffi.NULL, part, parts,
                    ffi.from_buffer("flr_wrench[]", wrench[first : first + part]) if wrench is not None else ffi.NULL,
                    ffi.from_buffer("flr_pose[]", places[first : first + part]) if places is not None else ffi.NULL, last + at, self._recorder,
                    self.rate, self._record_parts)
                final = last[at + part - 1]
                if self._recorder != ffi.NULL:
                    error = ffi.new("flr_error *")
                    _core.check(lib.flr_recorder_service(self._recorder, error), error)
            if way is not None:
                for h, hand in enumerate(self.hands):
                    hand._pose = way[-1, h].copy()
        if trace and wrench is not None and places is not None:
            return Trace(np.concatenate([wrench[..., 3:], wrench[..., :3]], axis=-1), places, frames["contacts"].copy(),
                         frames["lower"].copy(), frames["energy"].copy())
        return Frame(final.number, final.contacts, final.lower, final.upper, final.deepest, final.energy, final.faults,
                     f"{final.hash.high:016x}{final.hash.low:016x}")

    @contextmanager
    def record(self, path: _core.PathLike) -> Iterator[None]:
        """Records every step of the block to an MCAP file, which must not exist yet; `Recording` reads it.

        >>> import feeler, tempfile, os
        >>> world = feeler.World(feeler.demo_scene(), engine="exact")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "steps.mcap")
        ...     with world.record(path):
        ...         frame = world.step(20)
        ...     len(feeler.Recording(path))
        20
        """
        error, out = ffi.new("flr_error *"), ffi.new("flr_recorder **")
        texts = [b"rate", repr(float(self.rate)).encode(), b"engine", self.engine.encode()]
        for i, name in enumerate(self.parts):
            texts += [f"parts.{i}.name".encode(), name.encode()]
        kept = [ffi.new("char[]", text) for text in texts]
        listed = ffi.new("char *[]", kept + [ffi.NULL])
        if self._recorder != ffi.NULL:
            raise _core.InputError("this world is being recorded already")
        _core.check(lib.feeler_recorder_create(_core.path_bytes(path), len(self.hands), len(self.parts), listed, out, error),
                    error)
        self._record_parts = ffi.new("flr_record_part[]", len(self.parts))
        self._recorder = out[0]
        try:
            yield
        except BaseException:
            recorder, self._recorder = self._recorder, ffi.NULL
            lib.flr_recorder_abandon(recorder)
            raise
        recorder, self._recorder = self._recorder, ffi.NULL
        _core.check(lib.flr_recorder_finish(recorder, error), error)

    def gaps(self) -> List[Gap]:
        """Distances of parts that are near each other, in the last step; exact engine only.

        >>> import feeler
        >>> world = feeler.World(feeler.demo_scene(), engine="exact")
        >>> world.hands[0].grab("peg"); frame = world.step()
        >>> [(g.a, g.b) for g in world.gaps()]
        [('block', 'peg')]
        """
        count, names = ffi.new("uint32_t *"), list(self.parts)
        with self._opened.lock:
            found = lib.flr_world_gaps(self._world, count)
            return [Gap(names[g.part_a], names[g.part_b], g.distance, np.array([_vec(g.point_a), _vec(g.point_b)]),
                        _vec(g.normal)) for g in (found[i] for i in range(count[0]))]

    def touches(self) -> List[Touch]:
        """What pushed parts in the last step; exact engine only.

        >>> import feeler
        >>> world = feeler.World(feeler.demo_scene(), engine="exact")
        >>> frame = world.step(); world.touches()
        []
        """
        count, names = ffi.new("uint32_t *"), list(self.parts)
        with self._opened.lock:
            found = lib.flr_world_touches(self._world, count)
            return [Touch(names[t.part], names[t.other], _vec(t.point), _vec(t.normal), t.distance, t.force)
                    for t in (found[i] for i in range(count[0]))]

    def joint(self, name: Union[str, int]) -> Tuple[float, float]:
        """Turn and slide of a joint, rad and metres.

        >>> import feeler
        >>> feeler.World(feeler.demo_scene(), engine="exact").joint("hinge")
        Traceback (most recent call last):
        feeler._core.MissingError: there is no joint "hinge"; there are none
        """
        names = [ffi.string(lib.flr_scene_world_joint_name(self._opened.scene, i)).decode()
                 for i in range(lib.flr_scene_world_joint_count(self._opened.scene))]
        if isinstance(name, str) and name not in names:
            raise _core.MissingError(f'there is no joint "{name}"; there are {", ".join(names) or "none"}')
        place = ffi.new("flr_joint_position *")
        if not lib.flr_world_joint(self._world, names.index(name) if isinstance(name, str) else name, place):
            raise _core.MissingError(f"there is no joint {name}; there are {len(names)}")
        return place.turn, place.slide

    def save(self) -> bytes:
        """All of the state: parts, hands, frame number and hash.

        >>> import feeler
        >>> world = feeler.World(feeler.demo_scene(), engine="exact")
        >>> state = world.save(); one = world.step(5).hash
        >>> world.load(state); one == world.step(5).hash
        True
        """
        with self._opened.lock:
            state = bytearray(lib.flr_world_state_size(self._world))
            lib.flr_world_save(self._world, ffi.from_buffer(state))
        return bytes(state)

    def load(self, state: bytes) -> None:
        """Goes back to a state that `save` returned.

        >>> import feeler
        >>> world = feeler.World(feeler.demo_scene(), engine="exact")
        >>> world.load(world.save())
        """
        with self._opened.lock:
            if not lib.flr_world_load(self._world, ffi.from_buffer(state), len(state)):
                raise _core.InputError("this is no state of this world")

    def __reduce__(self) -> Any:
        poses = [hand.pose for hand in self.hands]
        return _restore, (self._opened.source, self._opened.settings, self.save(), poses)


def _restore(source: Any, settings: Dict[str, Any], state: bytes, poses: List[FloatArray]) -> World:
    world = World(source, **settings)
    world.load(state)
    for hand, pose in zip(world.hands, poses):
        hand.pose = pose
    return world
