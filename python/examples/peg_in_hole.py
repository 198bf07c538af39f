"""Push a peg into the wall of its hole and plot the force on the hand.

Run: python peg_in_hole.py [picture.png]     (the picture needs matplotlib)
"""

import sys

import numpy as np

import feeler

world = feeler.World(feeler.demo_scene(), engine="exact")
hand = world.hands[0]
hand.grab("peg")

# 2 mm to the side and back, a quarter of a second each way
aside = 0.002 * np.concatenate([np.linspace(0, 1, 250), np.linspace(1, 0, 250)])
way = np.repeat(hand.pose[None], len(aside), axis=0)
way[:, 0] += aside
trace = world.step(poses=way, trace=True)

force = -trace.wrench[:, 0, 0]
play = trace.poses[:, 1, 0].max()
print(f"the peg moved {1e3 * play:.2f} mm, the hand 2 mm; most force {force.max():.1f} N")
assert 0.0004 < play < 0.0006 and force.max() > 1

for first in range(0, len(force), 50):
    print(f"{first:4d} ms  {'#' * int(4 * max(0, force[first])):40s} {force[first]:5.2f} N")

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    plt.plot(1e3 * aside, force)
    plt.xlabel("hand (mm)")
    plt.ylabel("force (N)")
    plt.savefig(sys.argv[1])
