"""A small scene and recording, for examples: a square peg with 0.5 mm of play in a block."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from typing import Dict

import numpy as np

from feeler.mesh import Mesh

_folders: Dict[int, str] = {}  # of each process


def _folder() -> str:
    pid = os.getpid()
    if pid not in _folders:
        _folders[pid] = folder = tempfile.mkdtemp(prefix="feeler-demo-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return _folders[pid]


def _block(outer: float, hole: float, height: float) -> Mesh:
    """A square block with a square hole through it, along z from 0 to its height."""
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2
    rings = [(outer, 0.0), (outer, height), (hole, height), (hole, 0.0)]
    vertices = np.array([[x * size, y * size, z] for size, z in rings for x, y in square])
    faces = []
    for ring in range(4):
        for k in range(4):
            a, b = 4 * ring + k, 4 * ring + (k + 1) % 4
            c, d = (a + 4) % 16, (b + 4) % 16
            faces += [(a, b, d), (a, d, c)]
    return Mesh(vertices, faces)


def demo_scene() -> str:
    """The path of a scene: "peg", movable, stands in the hole of "block" with 0.5 mm of play. Removed when Python ends.

    >>> import feeler
    >>> feeler.demo_scene().endswith("scene.json")
    True
    """
    path = os.path.join(_folder(), "scene.json")
    if os.path.exists(path):
        return path
    _block(0.06, 0.021, 0.03).save(os.path.join(_folder(), "block.ply"), unit="m")
    Mesh.box((0.02, 0.02, 0.06)).save(os.path.join(_folder(), "peg.ply"), unit="m")
    scene = {
        "feeler": 1,
        "name": "square peg",
        "unit": "m",
        "parts": [
            {"name": "block", "file": "block.ply", "unit": "m"},
            {"name": "peg", "file": "peg.ply", "unit": "m", "moving": True, "pose": {"position": [0, 0, 0.01]}},
        ],
    }
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(scene, file)
    os.replace(path + ".new", path)
    return path


def demo_recording() -> str:
    """The path of a recording of that scene: 100 steps in which a hand presses the peg aside.

    >>> import feeler
    >>> len(feeler.Recording(feeler.demo_recording()))
    100
    """
    from feeler.world import World

    path = os.path.join(_folder(), "steps.mcap")
    if not os.path.exists(path):
        world = World(demo_scene(), engine="exact")
        hand = world.hands[0]
        hand.grab("peg")
        way = np.repeat(hand.pose[None], 100, axis=0)
        way[:, 0] += np.linspace(0, 0.001, 100)
        with world.record(path):
            world.step(poses=way)
    return path
