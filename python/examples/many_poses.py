"""Distances of two parts at very many poses, on all cores.

Run: python many_poses.py [number]      (default 10^6; FEELER_EXAMPLE_POSES sets another one)
"""

import os
import sys
import time

import numpy as np

import feeler

count = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("FEELER_EXAMPLE_POSES", "1000000"))
scene = feeler.Scene(feeler.demo_scene())
pair = feeler.Pair(scene.parts["block"].mesh, scene.parts["peg"].mesh)

rng = np.random.default_rng(1)
poses = np.zeros((count, 7))
poses[:, :3] = rng.uniform([-0.05, -0.05, -0.05], [0.05, 0.05, 0.1], (count, 3))
half = rng.uniform(-0.5, 0.5, count)
poses[:, 3], poses[:, 6] = np.cos(half), np.sin(half)

begin = time.perf_counter()
r = pair.query(poses, reach=-1)
seconds = time.perf_counter() - begin
print(f"{count} poses in {seconds:.2f} s, {1e6 * seconds / count:.1f} us each")
print(f"{(r.distance <= 0).mean():.1%} interfere; the nearest free one is {1e6 * r.distance[r.distance > 0].min():.2f} um away")
