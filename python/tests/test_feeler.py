"""The Python package: results against brute force, errors, threads, processes, signals, leaks."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import types
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import feeler

IDENTITY = [0.0, 0, 0, 1, 0, 0, 0]
AWAY = [2.0, 0, 0, 1, 0, 0, 0]


def torus(around=24, across=12, large=0.3, small=0.1):
    a, b = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.arange(across) * 2 * np.pi / across, indexing="ij")
    v = np.stack([(large + small * np.cos(b)) * np.cos(a), (large + small * np.cos(b)) * np.sin(a), small * np.sin(b)], -1)
    i, k = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    p, q = i * across + k, ((i + 1) % around) * across + k
    r, s = ((i + 1) % around) * across + (k + 1) % across, i * across + (k + 1) % across
    faces = np.concatenate([np.stack([p, q, r], -1).reshape(-1, 3), np.stack([p, r, s], -1).reshape(-1, 3)])
    return feeler.Mesh(v.reshape(-1, 3), faces)


def brute_distance(mesh, point):
    """Distance to every triangle, by numpy: closest of plane, sides and corners."""
    t = mesh.vertices[mesh.faces]
    best = np.inf
    n = np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0])
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    h = np.einsum("ij,ij->i", point - t[:, 0], n)
    on = point - h[:, None] * n
    inside = np.ones(len(t), bool)
    for k in range(3):
        a, b = t[:, k], t[:, (k + 1) % 3]
        inside &= np.einsum("ij,ij->i", np.cross(b - a, on - a), n) >= 0
        s = np.clip(np.einsum("ij,ij->i", point - a, b - a) / np.einsum("ij,ij->i", b - a, b - a), 0, 1)
        best = min(best, np.linalg.norm(point - a - s[:, None] * (b - a), axis=1).min())
    return min(best, np.abs(h[inside]).min()) if inside.any() else best


def random_poses(count, reach, seed=1):
    rng = np.random.default_rng(seed)
    poses = np.empty((count, 7))
    poses[:, :3] = rng.uniform(-reach, reach, (count, 3))
    q = rng.normal(size=(count, 4))
    poses[:, 3:] = q / np.linalg.norm(q, axis=1, keepdims=True)
    return poses


# ---- meshes ----


def test_signed_distance_equals_brute_force():
    mesh = torus()
    points = np.random.default_rng(2).uniform(-0.5, 0.5, (5000, 3))
    found = mesh.closest(points)
    ring = np.hypot(points[:, 0], points[:, 1]) - 0.3
    for i in range(0, 5000, 50):
        assert abs(abs(found.distance[i]) - brute_distance(mesh, points[i])) < 1e-15
        assert abs(np.linalg.norm(found.point[i] - points[i]) - abs(found.distance[i])) < 1e-15
    # far from the surface the sign follows from the exact torus
    exact = np.hypot(ring, points[:, 2]) - 0.1
    sure = np.abs(exact) > 0.02
    assert (np.sign(found.distance[sure]) == np.sign(exact[sure])).all()
    assert (mesh.signed_distance(points, threads=1) == found.distance).all()


def test_arrays_are_shared_and_read_only():
    mesh = feeler.Mesh.box((1, 1, 1))
    v = mesh.vertices
    assert not v.flags.writeable
    del mesh
    assert v.sum() == 0  # the array keeps its mesh alive
    points = np.zeros((4, 3))
    assert feeler._core.vectors(points, "points") is points  # no copy


def test_meshes_of_other_libraries():
    cube = feeler.Mesh.box((1, 1, 1))
    trimesh = types.SimpleNamespace(vertices=cube.vertices.tolist(), faces=cube.faces.astype(int))
    open3d = types.SimpleNamespace(vertices=cube.vertices, triangles=cube.faces.astype(np.int32))
    assert feeler.Mesh.of(trimesh).hash == feeler.Mesh.of(open3d).hash == cube.hash
    with pytest.raises(feeler.InputError, match="SimpleNamespace is no mesh"):
        feeler.Mesh.of(types.SimpleNamespace(points=[]))


@pytest.mark.parametrize(
    "vertices, faces, sentence",
    [
        ([[0, 0, 0], [1, 0, 0]], [[0, 1, 2]], "2"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, -1]], "indices"),
        ([[0, 0], [1, 0]], [[0, 1, 1]], "shape"),
        ([[0, 0, np.nan], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], ""),
        ([[0, 0, 0]], np.zeros((0, 3), int), "at least one triangle"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0.5, 1, 2]], "indices"),
    ],
)
def test_bad_meshes_are_refused(vertices, faces, sentence):
    with pytest.raises(feeler.InputError, match=sentence):
        feeler.Mesh(vertices, faces)


def test_files_and_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.stl"):
        feeler.load(tmp_path / "nowhere.stl")
    bad = tmp_path / "bad.obj"
    bad.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n")
    with pytest.raises(ValueError, match="bad.obj") as caught:
        feeler.load(bad)
    assert caught.value.code == "bad input"
    with pytest.raises(feeler.InputError, match="furlong"):
        feeler.load(bad, unit="furlong")
    with pytest.raises(feeler.InputError):
        feeler.Mesh.box((1, 1, 1)).save(tmp_path / "a\0b.stl")


def test_segments_and_voxels():
    cube = feeler.Mesh.box((0.02, 0.02, 0.02))
    rng = np.random.default_rng(3)
    start = rng.uniform(-0.03, 0.03, (2000, 3))
    hits = cube.segments(start, [0, 0, 0])
    outside = ~cube.contains(start)
    assert (np.isfinite(hits.t) == outside).all()
    assert np.allclose(np.abs(hits.point[outside]).max(axis=1), 0.01)
    voxels = cube.voxelize(0.001)
    assert set(np.unique(voxels.marks)) >= {0, 1, 2, 3}
    assert np.allclose(np.abs(voxels.points).max(axis=1), 0.01, atol=0.001)
    assert (np.einsum("ij,ij->i", voxels.points, voxels.normals) > 0).all()  # outward
    where = np.argwhere(voxels.marks == 1) * voxels.size + voxels.origin + voxels.size / 2
    assert cube.contains(where).all()


# ---- pairs ----


def test_poses_equal_a_loop():
    pair = feeler.Pair(torus(), feeler.Mesh.box((0.1, 0.1, 0.1)))
    poses = random_poses(200, 0.4)
    all_at_once = pair.query(poses, reach=1e-3, contacts=True)
    one_by_one = [pair.query(pose, reach=1e-3) for pose in poses]
    assert (all_at_once.distance == [r.distance for r in one_by_one]).all()
    assert (all_at_once.wrench == [r.wrench for r in one_by_one]).all()
    counts = np.bincount(all_at_once.contacts.pose, minlength=200)
    assert (counts == all_at_once.contact_count).all() and counts.sum() > 100
    assert (all_at_once.distance < 0).any() and (all_at_once.distance > 0).any()
    matrices = feeler.pose_to_matrix(poses)
    again = feeler.matrix_to_pose(matrices)
    flip = np.sign(np.einsum("ij,ij->i", again[:, 3:], poses[:, 3:]))
    assert np.allclose(again[:, 3:] * flip[:, None], poses[:, 3:], atol=1e-12)
    assert np.allclose(pair.query(matrices, reach=1e-3).distance, all_at_once.distance, atol=1e-9)


def test_sweeps_stop_at_contact():
    cube = feeler.Mesh.box((1, 1, 1))
    pair = feeler.Pair(cube, cube)
    far, through, beside = [5.0, 0, 0, 1, 0, 0, 0], [-5.0, 0, 0, 1, 0, 0, 0], [5.0, 5, 0, 1, 0, 0, 0]
    free = pair.sweep([[far, through], [far, beside]], clearance=0.5)
    assert abs(free[0] - 0.35) < 1e-6 and free[1] == 1
    with pytest.raises(feeler.InputError, match="shape"):
        pair.sweep(np.zeros((2, 3, 7)))


def test_bad_poses_are_named():
    cube = feeler.Mesh.box((1, 1, 1))
    pair = feeler.Pair(cube, cube)
    poses = random_poses(5, 2)
    poses[3, 3] = np.nan
    with pytest.raises(feeler.InputError, match="pose 3 "):
        pair.query(poses)
    with pytest.raises(feeler.InputError, match="shape"):
        pair.query(np.zeros((3, 6)))
    with pytest.raises(feeler.InputError, match="scale"):
        pair.query(np.diag([2.0, 2, 2, 1]))
    assert len(pair.query(np.zeros((0, 7)))) == 0


def test_threads_share_meshes_and_pairs():
    mesh, pair = torus(), feeler.Pair(torus(), feeler.Mesh.box((0.1, 0.1, 0.1)))
    poses, points = random_poses(32, 0.4), np.random.default_rng(4).uniform(-0.5, 0.5, (500, 3))
    expected, distances = pair.query(poses).distance, torus().signed_distance(points)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: (pair.query(poses).distance, mesh.signed_distance(points)), range(16)))
    for one, other in found:
        assert (one == expected).all() and (other == distances).all()


def _in_process(pair):
    return pair.query(IDENTITY[:3] + IDENTITY[3:]).distance.item(), os.getpid()


def test_pickles_and_processes():
    cube = feeler.Mesh.box((1, 1, 1))
    pair = feeler.Pair(cube, feeler.Mesh.box((0.5, 0.5, 0.5)))
    again = pickle.loads(pickle.dumps(pair))
    assert again.query([2, 0, 0, 1, 0, 0, 0]).distance == pair.query([2, 0, 0, 1, 0, 0, 0]).distance
    assert pickle.loads(pickle.dumps(cube)).hash == cube.hash
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(_in_process, [pair] * 3))
    assert {d for d, _ in found} == {pair.query(IDENTITY).distance.item()}
    assert os.getpid() not in {pid for _, pid in found}


def test_progress_counts_and_cancels():
    pair = feeler.Pair(torus(), torus())
    seen = []
    pair.query(random_poses(200, 0.4), progress=seen.append, threads=1)
    assert seen == sorted(seen) and seen[-1] == 1 and len(seen) > 5
    with pytest.raises(feeler.Cancelled):
        pair.query(random_poses(200, 0.4), progress=lambda done: done < 0.3)
    with pytest.raises(ZeroDivisionError):
        pair.query(random_poses(200, 0.4), progress=lambda done: 1 / 0)
    # the pair is whole afterwards
    assert len(pair.query(random_poses(20, 0.4))) == 20


def test_ctrl_c_ends_a_long_call():
    # the handler is set again: a shell starts what runs in the background with SIGINT ignored, and Python leaves that so
    code = """
import signal, sys, numpy as np, feeler
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, sys.argv[1])
from test_feeler import torus, random_poses
pair = feeler.Pair(torus(96, 48), torus(96, 48))
poses = np.repeat(random_poses(1000, 0.4), 1000, axis=0)
try:
    print("ready", flush=True)
    pair.query(poses, reach=0.01)
except KeyboardInterrupt:
    assert len(pair.query(poses[:20])) == 20
    print("stopped", flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", code, str(Path(__file__).parent)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    timer = threading.Timer(0.3, child.send_signal, [signal.SIGINT])
    timer.start()
    assert child.stdout.readline() == "stopped\n"
    assert child.wait() == 0


# ---- scenes ----

URDF = """<robot name="arm">
  <link name="base"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <link name="arm"><collision><geometry><box size="0.05 0.05 0.3"/></geometry></collision></link>
  <joint name="elbow" type="revolute"><parent link="base"/><child link="arm"/>
    <origin xyz="0.2 0 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>
"""


def test_robot_scenes(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    scene = feeler.Scene(path)
    assert len(scene.names) == 2 and feeler.clash(scene) == []
    world = feeler.World(path, engine="exact")
    assert world.joint("elbow") == (0.0, 0.0)
    with pytest.raises(feeler.MissingError, match="elbow"):
        world.joint("knee")


def test_scene_errors_name_the_place(tmp_path):
    path = tmp_path / "scene.json"
    path.write_text('{"feeler": 1, "name": "x", "parts": [{"name": "a", "file": 3}]}')
    with pytest.raises(feeler.InputError, match=r"scene.json:1:.*parts\[0\].file"):
        feeler.World(path)
    with pytest.raises(feeler.InputError, match="no engine; there are shell"):
        feeler.World(feeler.demo_scene(), engine="steam")
    with pytest.raises(feeler.InputError, match="1 to 8 hands"):
        feeler.World(feeler.demo_scene(), hands=0)
    with pytest.raises(feeler.MissingError, match='no "nut"; there are block, peg'):
        feeler.plan(feeler.demo_scene(), part="nut")


def test_a_search_tells_its_seconds_and_can_be_stopped(tmp_path):
    # a cube behind bars on all six sides: there is no way out
    walls = [np.roll((1.0, 1.0, 0.05), k) for k in range(3)]
    parts = [{"name": "cube", "file": "cube.stl", "moving": True}]
    feeler.Mesh.box((0.3, 0.3, 0.3)).save(tmp_path / "cube.stl")
    for axis, size in enumerate(walls):
        feeler.Mesh.box(tuple(size)).save(tmp_path / f"wall_{axis}.stl")
        for side in (-0.5, 0.5):
            at = np.zeros(3)
            at[np.argmin(size)] = side * 1000
            parts.append({"name": f"wall {axis} {side}", "file": f"wall_{axis}.stl", "pose": {"position": list(at)}})
    scene = {"feeler": 1, "name": "cage", "unit": "mm", "parts": parts}
    path = tmp_path / "cage.json"
    path.write_text(json.dumps(scene))
    seen = []
    assert not feeler.plan(path, part="cube", seconds=3, progress=seen.append).found
    assert seen == sorted(seen) and len(seen) > 2 and 0 < seen[0] and seen[-1] < 60
    with pytest.raises(feeler.Cancelled):
        feeler.plan(path, part="cube", seconds=600, progress=lambda seconds: seconds < 0.3)
    with pytest.raises(ZeroDivisionError):
        feeler.plan(path, part="cube", seconds=600, progress=lambda seconds: 1 / 0)
    # through a wall that all pass through; or with a wall that moves along, which is in nobody's way either
    passed = json.loads(json.dumps(scene))
    passed["parts"][1]["use"] = "pass"
    path.write_text(json.dumps(passed))
    assert feeler.Scene(path).parts["wall 0 -0.5"].passes
    assert feeler.plan(path, part="cube", seconds=20).found
    rigid = json.loads(json.dumps(scene))
    rigid["groups"] = [{"name": "open", "rigid": True}]
    for wall in (0, 1):
        rigid["parts"][wall].update({"in": "open", "moving": True})
    path.write_text(json.dumps(rigid))
    parts = feeler.Scene(path).parts
    assert parts["cube"].rigid and parts["cube"].rigid == parts["wall 0 -0.5"].rigid != parts["wall 0 0.5"].rigid == 0
    way = feeler.plan(path, seconds=20)
    assert way.found and feeler.verify(path, way.poses).free


def test_a_dict_is_a_scene():
    with open(feeler.demo_scene(), encoding="utf-8") as file:
        scene = json.load(file)
    for part in scene["parts"]:
        part["file"] = os.path.join(os.path.dirname(feeler.demo_scene()), part["file"])
    assert feeler.Scene(scene).names == ["block", "peg"]


def test_worlds_repeat_to_the_bit():
    def run(world):
        hand = world.hands[0]
        hand.grab("peg")
        way = np.repeat(hand.pose[None], 150, axis=0)
        way[:, 0] += np.linspace(0, 0.002, 150)
        trace = world.step(poses=way, trace=True)
        return trace, world.step().hash

    world = feeler.World(feeler.demo_scene(), engine="exact")
    state = world.save()
    first, one = run(world)
    second, other = run(feeler.World(feeler.demo_scene(), engine="exact"))
    assert one == other and (first.poses == second.poses).all()
    # the block pushes back, and the peg stays in the hole
    assert first.wrench[-1, 0, 0] < -0.5 and first.poses[-1, 1, 0] < 0.0006
    moved = pickle.loads(pickle.dumps(world))
    assert moved.step().hash == world.step().hash
    world.load(state)
    assert run(world)[1] == one
    with pytest.raises(feeler.InputError, match="no state"):
        world.load(b"nonsense")
    with pytest.raises(feeler.InputError, match="static"):
        world.hands[0].grab("block")


@pytest.mark.parametrize("engine", ["shell", "spheres", "coherent"])
def test_other_engines_run(engine):
    world = feeler.World(feeler.demo_scene(), engine=engine, voxel=0.001)
    world.hands[0].grab("peg")
    assert world.engine == engine and world.step(50).number == 49


def test_recordings_keep_the_bits(tmp_path):
    world = feeler.World(feeler.demo_scene(), engine="exact")
    world.hands[0].grab("peg")
    with world.record(tmp_path / "a.mcap"):
        trace = world.step(300, trace=True)
    r = feeler.Recording(tmp_path / "a.mcap")
    assert (r.part_poses == trace.poses).all() and (r.hand_wrench == trace.wrench).all()
    assert r.complete and r.damage == "" and r.text("parts.1.name") == "peg"
    with pytest.raises(feeler.FeelerError):
        with world.record(tmp_path / "a.mcap"):
            pass
    whole = (tmp_path / "a.mcap").read_bytes()
    (tmp_path / "b.mcap").write_bytes(whole[: len(whole) // 2])
    assert not feeler.Recording(tmp_path / "b.mcap").complete
    with pytest.raises(feeler.InputError):
        (tmp_path / "c.mcap").write_bytes(b"no recording")
        feeler.Recording(tmp_path / "c.mcap")


# ---- documentation and memory ----


def test_every_function_has_an_example():
    missing = []
    for name in feeler.__all__:
        thing = getattr(feeler, name)
        if isinstance(thing, type):
            plain = issubclass(thing, (tuple, Exception)) or hasattr(thing, "__dataclass_fields__")
            if not thing.__doc__ or (not plain and ">>>" not in thing.__doc__):
                missing.append(name)
            for key, value in vars(thing).items():
                doc = getattr(value, "__doc__", None)
                if key.startswith("_") or plain or not (callable(value) or isinstance(value, (property, classmethod))):
                    continue
                if ">>>" not in (doc or ""):
                    missing.append(f"{name}.{key}")
        elif ">>>" not in (thing.__doc__ or ""):
            missing.append(name)
    assert missing == []


def test_nothing_leaks():
    """Memory does not grow: FEELER_LEAK_CALLS=1000000 is the long form."""
    calls = int(os.environ.get("FEELER_LEAK_CALLS", "3000"))
    cube, pair = feeler.Mesh.box((1, 1, 1)), feeler.Pair(feeler.Mesh.box((1, 1, 1)), feeler.Mesh.box((1, 1, 1)))

    def pages():
        return int(Path("/proc/self/statm").read_text().split()[1])

    def work(count):
        for i in range(count):
            pair.query(AWAY)
            cube.signed_distance([[0.0, 0, 0]])
            if i % 100 == 0:
                feeler.Mesh.box((1, 1, 1)).closest([[2.0, 0, 0]])
                feeler.Pair(cube, cube).query(AWAY, contacts=True, reach=2)
                cube.voxelize(0.2)
                cube.segments([0, 0, 0], [2, 0, 0])
                with pytest.raises(feeler.InputError):
                    pair.query([0.0] * 7)

    work(min(calls, 1000))
    before = pages()
    work(calls)
    assert pages() - before < 400  # 1.6 MB; a leak of 2 bytes in a call is more in the long form
