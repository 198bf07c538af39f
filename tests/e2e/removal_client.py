"""Puts all parts back, and takes one along a path while it is recorded:  removal_client.py PORT PATH PART NAME [SPEED [KEY=VALUE]…]
Half way the parameters are set."""
import struct
import sys
import time

from serve_client import RECORD_START, RECORD_STOP, Client, text

GRAB, RELEASE, RESET, HAND_INPUT, SET = 64, 65, 66, 69, 74


def poses(path):
    """Times and poses of a pose file in millimetres."""
    for line in open(path):
        if not line.startswith("#"):
            t, x, y, z, *q = map(float, line.split())
            yield t, (x / 1000, y / 1000, z / 1000, *q)


def point(client, pose):
    client.send(HAND_INPUT, struct.pack("<IIQ7d", 0, 0, int(time.monotonic() * 1e6), *pose), 0)


if __name__ == "__main__":
    port, path, part, name = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    speed = float(sys.argv[5]) if len(sys.argv) > 5 else 1
    client = Client(port, role=1)
    way = list(poses(path))
    client.ask(RESET)
    point(client, way[0][1])
    time.sleep(0.2)
    client.ask(RECORD_START, text(name))
    client.ask(GRAB, struct.pack("<II", 0, part))
    began = time.monotonic()
    for i, (t, pose) in enumerate(way):
        for key, value in (given.split("=") for given in sys.argv[6:] if i == len(way) // 2):
            client.ask(SET, struct.pack("<d", float(value)) + text(key))
        time.sleep(max(0, began + t / speed - time.monotonic()))
        point(client, pose)
    time.sleep(0.3)
    client.ask(RELEASE, struct.pack("<I", 0))
    client.ask(RECORD_STOP)
    time.sleep(0.3)
    print("recorded")
