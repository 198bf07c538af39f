"""Read an MCAP recording of feeler run or feeler serve.

Run: python read_recording.py [recording.mcap]
"""

import sys

import numpy as np

import feeler

path = sys.argv[1] if len(sys.argv) > 1 else feeler.demo_recording()
r = feeler.Recording(path)
print(f"{len(r)} frames, {r.time[-1]:.3f} s, {r.part_poses.shape[1]} parts, {r.hand_poses.shape[1]} hands")
force = np.linalg.norm(r.hand_wrench[:, 0, :3], axis=-1)
print(f"most force {force.max():.2f} N at {r.time[force.argmax()]:.3f} s; contact in {(r.contacts > 0).mean():.0%} of frames")
try:
    print(r.to_pandas()[["time", "contacts", "hand0.fx"]].tail(3).to_string(index=False))
except ImportError:
    print("pandas is not installed: r.to_pandas() needs it")
