"""Puts all parts back, and takes one along a path while it is recorded:  removal_client.py PORT PATH PART NAME [SPEED [KEY=VALUE]…]
Half way the parameters are set."""
import struct
import sys
import time

from serve_client import DONE, RECORD_START, RECORD_STOP, Client, text

GRAB, RELEASE, RESET, HAND_INPUT, SET, RECORDINGS_ASK, RECORDING = 64, 65, 66, 69, 74, 82, 83


def poses(path):
    """Times and poses of a pose file in millimetres."""
    for line in open(path):
        if not line.startswith("#"):
            t, x, y, z, *q = map(float, line.split())
            yield t, (x / 1000, y / 1000, z / 1000, *q)


def arrived(client, pose, frames=0):
    """Waits until the loop has the hand there, and for so many frames more."""
    while any(abs(a - b) > 1e-6 for a, b in zip(client.state()[1], pose)):
        time.sleep(0.005)
    first = client.state()[0]
    while client.state()[0] < first + frames:
        time.sleep(0.005)


def finished(client):
    """Waits until all recordings are whole on the disk."""
    open_ones = 1
    while open_ones:
        open_ones, client.number = 0, client.number + 1
        client.send(RECORDINGS_ASK, b"", client.number)
        message = None
        while message != DONE:
            message, request, body = client.receive()
            message = message if request == client.number else None
            open_ones += message == RECORDING and not body[4]
        time.sleep(0.005)


def point(client, pose):
    client.send(HAND_INPUT, struct.pack("<IIQ7d", 0, 0, int(time.monotonic() * 1e6), *pose), 0)


if __name__ == "__main__":
    port, path, part, name = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    speed = float(sys.argv[5]) if len(sys.argv) > 5 else 1
    client = Client(port, role=1)
    way = list(poses(path))
    client.ask(RESET)
    point(client, way[0][1])
    arrived(client, way[0][1])
    client.ask(RECORD_START, text(name))
    client.ask(GRAB, struct.pack("<II", 0, part))
    began = time.monotonic()
    for i, (t, pose) in enumerate(way):
        for key, value in (given.split("=") for given in sys.argv[6:] if i == len(way) // 2):
            client.ask(SET, struct.pack("<d", float(value)) + text(key))
        late = time.monotonic() - began - t / speed
        began += max(0, late)  # who is late goes on later: the hand goes no faster than the path
        time.sleep(max(0, -late))
        point(client, pose)
    arrived(client, way[-1][1], 300)
    client.ask(RELEASE, struct.pack("<I", 0))
    client.ask(RECORD_STOP)
    finished(client)
    print("recorded")
