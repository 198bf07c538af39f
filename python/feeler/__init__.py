"""feeler: exact contact, clearance and removal paths of CAD parts, with numpy arrays.

>>> import feeler
>>> cube = feeler.Mesh.box((1, 1, 1))
>>> feeler.Pair(cube, cube).query([1.5, 0, 0, 1, 0, 0, 0]).distance.item()
0.5

Lengths are metres, angles radians. A pose is (x, y, z, w, x, y, z): a place and a unit quaternion, or a 4 x 4 matrix.
"""

from feeler._core import (
    AccessError,
    Cancelled,
    FeelerError,
    InputError,
    MemoryShortage,
    MissingError,
    matrix_to_pose,
    pose_to_matrix,
)
from feeler.demo import demo_recording, demo_scene
from feeler.mesh import ClosestPoints, Hits, Mesh, Voxels, load
from feeler.pair import Contacts, Pair, Query
from feeler.recording import Recording
from feeler.scene import Blocker, Clash, Plan, Scene, ScenePart, Verdict, clash, import_scene, plan, verify
from feeler.world import Frame, Gap, Hand, Touch, Trace, World, WorldPart

__all__ = [
    "AccessError", "Blocker", "Cancelled", "Clash", "ClosestPoints", "Contacts", "FeelerError", "Frame", "Gap", "Hand",
    "Hits", "InputError", "MemoryShortage", "Mesh", "MissingError", "Pair", "Plan", "Query", "Recording", "Scene",
    "ScenePart", "Touch", "Trace", "Verdict", "Voxels", "World", "WorldPart", "clash", "demo_recording", "demo_scene",
    "import_scene", "load", "matrix_to_pose", "plan", "pose_to_matrix", "verify",
]
