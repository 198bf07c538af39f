"""Measures the package: call overhead, batches beside a plain loop of C calls, signed distances beside Open3D.

Run: python benchmark.py [points]        (Open3D is used where it is installed)
On a busy machine, compare processor times.
"""

import sys
import time

import numpy as np

import feeler
from feeler import pair as pair_module
from feeler._native import ffi, lib


def torus(n: int) -> feeler.Mesh:
    a, b = np.meshgrid(np.arange(n) * 2 * np.pi / n, np.arange(n) * 2 * np.pi / n, indexing="ij")
    r = 0.15 + 0.02 * np.sin(7 * a) * np.cos(5 * b)
    v = np.stack([(0.35 + r * np.cos(b)) * np.cos(a), (0.35 + r * np.cos(b)) * np.sin(a), r * np.sin(b)], -1)
    i, k = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    p, q, s, t = i * n + k, (i + 1) % n * n + k, (i + 1) % n * n + (k + 1) % n, i * n + (k + 1) % n
    return feeler.Mesh(v.reshape(-1, 3), np.concatenate([np.stack([p, q, s], -1), np.stack([p, s, t], -1)]).reshape(-1, 3))


def best(*works, rounds: int = 5) -> list:
    """The least clock and processor seconds of each, measured in turns; processor time is that of all threads."""
    times = [[np.inf, np.inf] for _ in works]
    for _ in range(rounds):
        for work, least in zip(works, times):
            clock, processor = time.perf_counter(), time.process_time()
            work()
            taken = time.perf_counter() - clock, time.process_time() - processor
            least[:] = min(least[0], taken[0]), min(least[1], taken[1])
    return times


def overhead() -> None:
    cube = feeler.Mesh.box((1, 1, 1))
    pair, pose = feeler.Pair(cube, cube), np.array([3.0, 0, 0, 1, 0, 0, 0])
    data, error = np.empty((), pair_module._RESULT), ffi.new("flr_error *")
    here, there = ffi.from_buffer("flr_pose[]", pose), ffi.from_buffer("flr_batch_result[]", data)

    def calls() -> None:
        for _ in range(5000):
            pair.query(pose)

    def bare() -> None:
        for _ in range(5000):
            lib.flr_batch_poses(pair._pair, here, 1, pair._plain, pair._quiet, there, ffi.NULL, error)

    python, c = best(calls, bare)
    print(f"call overhead of pair.query: {1e6 * (python[1] - c[1]) / 5000:.2f} us (bound 5)")


def batch(count: int) -> None:
    pair = feeler.Pair(torus(24), feeler.Mesh.box((0.1, 0.1, 0.1)))
    rng = np.random.default_rng(1)
    poses = np.zeros((count, 7))
    poses[:, :3], poses[:, 3] = rng.uniform(-0.6, 0.6, (count, 3)), 1
    data, error = np.empty(count, pair_module._RESULT), ffi.new("flr_error *")
    options = ffi.new("flr_batch_options *")
    here, there = ffi.from_buffer("flr_pose[]", poses), ffi.from_buffer("flr_batch_result[]", data)
    python, c = best(
        lambda: pair.query(poses),
        lambda: lib.flr_batch_poses(pair._pair, here, count, pair._plain, options, there, ffi.NULL, error),
        rounds=3,
    )
    print(
        f"{count} poses: {python[0]:.3f} s, the same call in C {c[0]:.3f} s; processor time {python[1]:.3f} and {c[1]:.3f} s: "
        f"{python[1] / c[1]:.3f} times (bound 1.1)"
    )


def near(mesh: feeler.Mesh, count: int, reach: float = 0.005) -> np.ndarray:
    """Points up to `reach` from points of the surface along each axis."""
    rng = np.random.default_rng(2)
    corners = mesh.vertices[mesh.faces[rng.integers(0, len(mesh.faces), count)]]
    weights = rng.dirichlet([1, 1, 1], count)
    return np.einsum("nk,nkc->nc", weights, corners) + rng.uniform(-reach, reach, (count, 3))


def distances(count: int) -> None:
    mesh = torus(224)
    try:
        import open3d
    except ImportError:
        print("Open3D is not installed")
        open3d = None
    else:
        scene = open3d.t.geometry.RaycastingScene()
        scene.add_triangles(open3d.core.Tensor(mesh.vertices.astype(np.float32)), open3d.core.Tensor(np.array(mesh.faces)))
    mesh.signed_distance(mesh.vertices[:10])
    box = np.random.default_rng(1).uniform([-0.55, -0.55, -0.2], [0.55, 0.55, 0.2], (count, 3))
    for where, points in [("in the box", box), ("within 5 mm of the surface", near(mesh, count))]:
        works = [lambda: mesh.signed_distance(points)]
        if open3d:
            query = open3d.core.Tensor(points.astype(np.float32))
            works.append(lambda: scene.compute_signed_distance(query))
        times = best(*works, rounds=3 if open3d else 5)
        names = ["feeler", "Open3D"]
        print(f"signed distance of {count} points {where} to {len(mesh.faces)} triangles (bound 50 ms on two cores):")
        for name, (clock, processor) in zip(names, times):
            print(f"  {name}: {1e3 * clock:.0f} ms, processor time {1e3 * processor:.0f} ms")
        if open3d:
            differ = np.abs(scene.compute_signed_distance(query).numpy() - mesh.signed_distance(points)).max()
            print(f"  Open3D, in single precision, differs by up to {differ:.1e} m")


if __name__ == "__main__":
    given = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    overhead()
    batch(min(given, 100000))
    distances(given)
