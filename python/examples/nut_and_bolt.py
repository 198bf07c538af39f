"""A nut on a bolt: clearance along the thread, and what a straight pull does.

Run: python nut_and_bolt.py
"""

import numpy as np

import feeler

PITCH, RADIUS, DEPTH, AROUND = 2e-3, 8e-3, 1e-3, 48


def thread(radius: float, turns: int, other: float) -> feeler.Mesh:
    """A helical thread between z = 0 and turns * pitch, closed by a plain wall at the radius `other`: a bolt where that is 0,
    a nut where it is larger."""
    angle = np.arange(turns * AROUND + 1) * 2 * np.pi / AROUND
    shape = np.array([0.0, 0.5])  # of a pitch: root and crest
    rows = []
    for step in range(len(shape)):
        r = radius - DEPTH * (step == 0)
        rows.append(np.stack([r * np.cos(angle), r * np.sin(angle), PITCH * (angle / (2 * np.pi) + shape[step])], -1))
    # root, crest, and the next turn's root: two bands that join into a screw surface
    below, crest = rows
    above = below + [0, 0, PITCH]
    faces, vertices = [], np.concatenate([below, crest, above])
    n = len(angle)
    for low, high in ((0, n), (n, 2 * n)):
        for i in range(n - 1):
            a, b, c, d = low + i, low + i + 1, high + i + 1, high + i
            faces += [(a, b, c), (a, c, d)] if other == 0 else [(a, c, b), (a, d, c)]
    return feeler.Mesh(vertices, faces, weld=1e-9)


bolt, nut = thread(RADIUS, 8, 0.0), thread(RADIUS + 1e-4, 3, 1.0)
pair = feeler.Pair(bolt, nut)

# screwed along: turn and slide together keep the gap
turns = np.linspace(1, 4, 60)
poses = np.zeros((len(turns), 7))
poses[:, 2] = PITCH * turns
poses[:, 3], poses[:, 6] = np.cos(np.pi * turns), np.sin(np.pi * turns)
r = pair.query(poses)
print(f"screwed: {1e6 * r.distance.min():.1f} to {1e6 * r.distance.max():.1f} um apart")
assert r.distance.min() > 2e-5

# pulled without turning: free for the play of the thread only
pull = pair.sweep([poses[0], poses[0] + [0, 0, PITCH, 0, 0, 0, 0]])
print(f"pulled straight: stops after {1e3 * PITCH * pull[0]:.3f} mm")
assert pull[0] < 0.5
