"""A small environment in the style of gymnasium: pull the peg out of its hole.

Has reset() and step() as gymnasium.Env has, and needs nothing but feeler. Run: python environment.py
"""

from typing import Any, Dict, Optional, Tuple

import numpy as np

import feeler


class PullPeg:
    """Action: how far to move the hand in the next 20 ms, (3,) metres. Observation: the peg's place and the hand's force."""

    def __init__(self) -> None:
        self.world = feeler.World(feeler.demo_scene(), engine="exact")
        self.start = self.world.save()
        self.pose = self.world.parts["peg"].pose

    def reset(self, *, seed: Optional[int] = None) -> Tuple[np.ndarray, Dict[str, Any]]:
        self.world.load(self.start)
        self.world.hands[0].grab("peg")
        self.pose = self.world.hands[0].pose
        return self.observe(), {}

    def observe(self) -> np.ndarray:
        return np.concatenate([self.world.parts["peg"].pose[:3], self.world.hands[0].wrench[:3]])

    def step(self, action: np.ndarray) -> Tuple[np.ndarray, float, bool, bool, Dict[str, Any]]:
        before = self.world.parts["peg"].pose[2]
        self.pose[:3] += np.clip(action, -0.002, 0.002)
        self.world.hands[0].pose = self.pose
        frame = self.world.step(20)
        seen = self.observe()
        out = bool(seen[2] > 0.07)
        reward = float(1e3 * (seen[2] - before) - 0.01 * np.linalg.norm(seen[3:]) + 10 * out)
        return seen, reward, out, frame.number > 5000, {"hash": frame.hash}


env = PullPeg()
observation, info = env.reset(seed=1)
rng, total, steps = np.random.default_rng(1), 0.0, 0
terminated = truncated = False
while not (terminated or truncated):
    action = np.array([0, 0, 0.001]) + rng.normal(scale=2e-4, size=3)
    observation, reward, terminated, truncated, info = env.step(action)
    total, steps = total + reward, steps + 1
print(f"out: {terminated}, after {steps} steps, reward {total:.1f}")
assert terminated
