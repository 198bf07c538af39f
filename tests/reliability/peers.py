"""Three controllers in three network namespaces, a user at each, one controller killed in each period: see peers.sh.
   peers.py FEELER FOLDER SEED KILLS PERIOD NAMESPACE_PID...

The controller that is killed comes back by `feeler join` to the address of another member, also when it was the host: a second
`feeler serve --share` would begin a session of its own. It gets the scene from the session, with all poses."""
import ctypes
import json
import math
import os
import random
import re
import socket
import struct
import subprocess
import sys
import threading
import time

from serve_client import Client, STATE, STATE_ASK

GRAB, RELEASE, HAND_INPUT = 64, 65, 69
STALLED = 4
NOBODY, TOKEN, PATIENCE = 0xFFFFFFFF, "0123456789abcdef0123456789abcdef", 600
PARTS, FLOOR = 4, 0
libc = ctypes.CDLL(None, use_errno=True)


class Trouble(Exception):
    """The guarantee does not hold."""


def box_stl(size):
    """A cube around the origin as ASCII STL, millimetres."""
    corner = [[size / 2 * (1 if i >> k & 1 else -1) for k in range(3)] for i in range(8)]
    out = ["solid box"]
    for a, b, c, d in ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)):
        for face in ((a, b, c), (a, c, d)):
            out.append("facet normal 0 0 0\nouter loop")
            out += ["vertex %g %g %g" % tuple(corner[k]) for k in face]
            out.append("endloop\nendfacet")
    return "\n".join(out + ["endsolid box\n"])


def write_scene(folder):
    os.makedirs(folder)
    for name, size in (("box", 20), ("floor", 60)):
        with open(f"{folder}/{name}.stl", "w") as file:
            file.write(box_stl(size))
    parts = [{"name": "floor", "file": "floor.stl", "pose": {"position": [0, 0, -40]}}]
    parts += [{"name": f"box{i}", "file": "box.stl", "moving": True, "pose": {"position": [40 * i - 60, 0, 20]}} for i in range(PARTS)]
    with open(f"{folder}/scene.json", "w") as file:
        json.dump({"feeler": 1, "name": "peers", "unit": "mm", "voxel": 2, "parts": parts}, file)


def await_it(condition, what):
    end = time.monotonic() + PATIENCE
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise Trouble(f"did not happen within {PATIENCE} s: {what}")
        time.sleep(0.05)


class Controller:
    """One controller, and the connections of this script to it, which are made inside its namespace."""

    def __init__(self, feeler, folder, side, pid):
        self.feeler, self.folder, self.side, self.pid = feeler, folder, side, pid
        self.lock, self.inside = threading.Lock(), f"/proc/{pid}/ns/net"
        self.log, self.process, self.http, self.port, self.starts, self.stalls = f"{folder}/controller{side}.log", None, None, 0, 0, 0

    def start(self, *command):
        self.starts += 1
        environment = dict(os.environ, XDG_CACHE_HOME=f"{self.folder}/cache{self.side}")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                ["nsenter", f"--net={self.inside}", self.feeler, *command, "--user", f"peer{self.side}", "--token-file", f"{self.folder}/token",
                 "--no-devices", "--port", "0", "--share-listen", f"10.77.0.{self.side}"],
                stdout=log, stderr=subprocess.STDOUT, env=environment, cwd=self.folder)
        self.port = int(await_it(self.said_port, f"controller {self.side} says its address"))

    def check(self, others=()):
        """One that nobody killed must be running. Only where the machine gave it no processor for two seconds it may have ended, with an
        exit code of its own (docs/serve.md): then it joins one of the others again, as its service manager would have it."""
        code = self.process.poll()
        alive = [c for c in others if c is not self and c.process.poll() is None]
        if code == STALLED and alive:
            self.stalls += 1
            self.health()  # the connection is gone
            self.start("join", await_it(alive[0].health, "a member answers")["membership"]["address"])
        elif code is not None:
            raise Trouble(f"controller {self.side} ended by itself with exit code {self.process.returncode}: {open(self.log).read()[-600:]}")

    def said_port(self):
        self.check()
        found = re.search(r"://[^:/]*:([0-9]+)/", open(self.log).read())
        return found and found[1]

    def within(self, action):
        """Does something that opens a socket, in the controller's namespace; of this thread only."""
        own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        other = os.open(self.inside, os.O_RDONLY)
        try:
            if libc.setns(other, 0) != 0:
                raise OSError(ctypes.get_errno(), "setns")
            return action()
        finally:
            libc.setns(own, 0)
            os.close(own)
            os.close(other)

    def client(self):
        return self.within(lambda: Client(self.port, token=TOKEN, role=1))

    def health(self):
        """What /health says of the session; None: nobody answers."""
        with self.lock:
            try:
                if not self.http:
                    self.http = self.within(lambda: socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE))
                self.http.sendall(f"GET /health?token={TOKEN} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                answer = b""
                while b"\r\n\r\n" not in answer:
                    answer += self.piece()
                head, _, body = answer.partition(b"\r\n\r\n")
                size = int(re.search(rb"content-length: *([0-9]+)", head, re.I)[1])
                while len(body) < size:
                    body += self.piece()
                return json.loads(body).get("share")
            except (OSError, ValueError, TypeError):  # it may end in the middle of an answer
                if self.http:
                    self.http.close()
                self.http = None
                return None

    def piece(self):
        piece = self.http.recv(65536)
        if not piece:
            raise ConnectionError("closed")
        return piece

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.health()  # the connection is gone


def whole_state(client):
    """Hand 0 (where it is, what it holds) and the bytes of the pose of every part that moves, by number.

    A state lists the floor, too, once something has touched it at this controller."""
    client.number += 1
    client.send(STATE_ASK, b"", client.number)
    while True:
        request, body = client.expect(STATE)
        if request == client.number:
            break
    hands, = struct.unpack_from("<I", body, 104)
    held, = struct.unpack_from("<I", body, 112)
    place = struct.unpack_from("<3d", body, 136)
    at = 112 + 184 * hands
    count, = struct.unpack_from("<I", body, at)
    at += 8
    poses = {struct.unpack_from("<I", body, at + 64 * i)[0]: body[at + 64 * i + 8:at + 64 * i + 64] for i in range(count)}
    poses.pop(FLOOR, None)
    return held, place, poses


class User(threading.Thread):
    """Grabs, carries and releases parts at random, whatever becomes of the controller."""

    def __init__(self, controller, seed, parts):
        super().__init__(daemon=True)
        self.controller, self.random, self.parts = controller, random.Random(seed), parts
        self.going, self.idle, self.ended, self.carried, self.refused, self.lost = threading.Event(), threading.Event(), False, 0, 0, 0

    def run(self):
        client = None
        while not self.ended:
            if not self.going.is_set():
                if client:
                    client.socket.close()
                    client = None
                self.idle.set()
                time.sleep(0.02)
                continue
            try:
                client = client or self.controller.client()
                self.carry(client)
            except (OSError, RuntimeError, struct.error, AssertionError):  # killed, or not ready yet
                self.lost += 1
                client = None
                time.sleep(0.2)

    def carry(self, client):
        part = self.random.choice(self.parts)
        held, place, poses = whole_state(client)
        if part not in poses:
            return
        at = struct.unpack("<7d", poses[part])
        self.point(client, at[:3])
        while math.dist(whole_state(client)[1], at[:3]) > 1e-6 and self.going.is_set():
            time.sleep(0.005)
        try:
            client.ask(GRAB, struct.pack("<II", 0, part))
        except RuntimeError:  # frozen, or the session is not ready
            self.refused += 1
            time.sleep(0.1)
            return
        goal = [self.random.uniform(-0.1, 0.1), self.random.uniform(-0.05, 0.05), self.random.uniform(0.02, 0.08)]
        steps = self.random.randrange(5, 60)
        for i in range(steps):
            if not self.going.is_set():
                break
            self.point(client, [a + (b - a) * (i + 1) / steps for a, b in zip(at, goal)])
            time.sleep(0.02)
        try:
            client.ask(RELEASE, struct.pack("<I", 0))
        except RuntimeError:
            pass
        self.carried += 1

    def point(self, client, p):
        client.send(HAND_INPUT, struct.pack("<IIQ7d", 0, 0, time.monotonic_ns() // 1000, *p, 1, 0, 0, 0), 0)

    def pause(self):
        self.going.clear()
        self.idle.clear()
        while not self.idle.wait(1):
            if not self.is_alive():
                raise Trouble(f"the user at controller {self.controller.side} has given up")


class Sampler(threading.Thread):
    """Asks all controllers in turn what they own, over and over.

    They cannot be asked in one moment. Where one says twice that it owns a part, in one epoch and without a change of what it knows
    in between, it has owned it all the time; nobody else may have said so in between."""

    def __init__(self, controllers):
        super().__init__(daemon=True)
        self.controllers, self.ended, self.samples, self.owned, self.brackets, self.trouble = controllers, False, 0, 0, 0, None
        self.last = {}

    def run(self):
        while not self.ended and not self.trouble:
            for controller in self.controllers:
                share = controller.health()
                self.look(controller.side, controller.starts, share and share["membership"])
            time.sleep(0.01)

    def look(self, side, start, now):
        before = self.last.get(side)
        self.last[side] = now and (start, now, self.samples)
        self.samples += 1
        if not now or not before or not now["owned"]:
            return
        started, was, when = before
        self.owned += len(now["owned"])
        if started != start or was["epoch"] != now["epoch"] or was["changes"] != now["changes"]:
            return
        for part in set(now["owned"]) & set(was["owned"]):
            self.brackets += 1
            for other, sample in self.last.items():
                if other != side and sample and sample[2] > when and sample[1]["epoch"] == now["epoch"] and part in sample[1]["owned"]:
                    self.trouble = f"part {part} has two owners in epoch {now['epoch']}: controllers {side} and {other}"


def poses_at(controller):
    client = controller.client()
    try:
        return whole_state(client)[2]
    finally:
        client.socket.close()


def converge(controllers):
    """Waits until all know the same of each other and have every part at the same bits of a pose; seconds it took."""
    began = time.monotonic()
    seen = {}

    def same():
        views, poses = [], []
        for controller in controllers:
            controller.check(controllers)
            share = controller.health()
            if not share:
                return False
            m = share["membership"]
            views.append((m["epoch"], [(p["member"], p["name"], p["leads"], p["ready"], p["away"]) for p in m["list"]]))
            if m["open_parts"] or sum(p["ready"] and not p["away"] for p in m["list"]) != len(controllers):
                seen["why"] = m
                return False
        for controller in controllers:
            try:
                poses.append(poses_at(controller))
            except (OSError, RuntimeError, AssertionError):
                return False  # the machine is busy: another try
        seen["why"] = (views, poses)
        return all(v == views[0] for v in views) and all(p == poses[0] for p in poses) and len(poses[0]) == PARTS

    try:
        await_it(same, "all agree")
    except Trouble as trouble:
        raise Trouble(f"{trouble}: {seen.get('why')}") from None
    return time.monotonic() - began


def main():
    feeler, folder, seed, kills, period, *pids = sys.argv[1:]
    seed, kills, period = int(seed), int(kills), float(period)
    chance = random.Random(seed)
    write_scene(f"{folder}/scene")
    with open(os.open(f"{folder}/token", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(TOKEN + "\n")
    controllers = [Controller(feeler, folder, side + 1, pid) for side, pid in enumerate(pids)]
    sampler, users, worst = Sampler(controllers), [], 0
    try:
        controllers[0].start("serve", f"{folder}/scene/scene.json", "--share")
        for controller in controllers[1:]:
            controller.start("join", "10.77.0.1")
        worst = converge(controllers)
        parts = sorted(poses_at(controllers[0]))
        users = [User(controller, seed * 10 + controller.side, parts) for controller in controllers]
        for thread in [sampler, *users]:
            thread.start()
        leaders, started = 0, time.monotonic()
        for turn in range(kills):
            for user in users:
                user.going.set()
            began = time.monotonic()
            time.sleep(period * chance.uniform(0.2, 0.4))
            # every other time the one that leads, as the others see it
            leads = [c for c in controllers if (c.health() or {}).get("leads")]
            victim = leads[0] if turn % 2 == 0 and leads else chance.choice(controllers)
            leaders += victim in leads
            victim.kill()
            time.sleep(chance.uniform(0, 5))
            others = [c for c in controllers if c is not victim]
            host = chance.choice(others)
            host.check(others)
            address = await_it(host.health, "a member answers")["membership"]["address"]
            victim.start("join", address)
            # the time to agree comes on top of the period
            time.sleep(max(0, began + period - time.monotonic()))
            for user in users:
                user.pause()
            took = converge(controllers)
            worst = max(worst, took)
            epoch = await_it(controllers[0].health, "a member answers")["membership"]["epoch"]
            print(f"  {turn + 1} of {kills}: controller {victim.side} was killed{' (it led)' if victim in leads else ''} and joined {address}; all agree after "
                  f"{took:.1f} s; epoch {epoch}, {sum(u.carried for u in users)} carried", flush=True)
            if sampler.trouble or not sampler.is_alive():
                raise Trouble(sampler.trouble or "nobody looks at owners any more")
        carried = sum(user.carried for user in users)
        if carried < 3 or not sampler.brackets:
            raise Trouble(f"hardly anything was tried: {carried} parts carried, {sampler.brackets} times seen in a hand")
        stalls = sum(controller.stalls for controller in controllers)
        print(f"peers: {(time.monotonic() - started) / 60:.1f} minutes, {kills} kills ({leaders} of the leader), {stalls} more ends because the machine was busy, {carried} parts carried, {sampler.samples} samples with {sampler.owned} owned parts: "
              f"never two owners in an epoch, all agree to the bit after {worst:.1f} s at most: held")
    except Trouble as trouble:
        print(f"peers: {trouble}: NOT HELD")
        return 1
    finally:
        sampler.ended = True
        for user in users:
            user.ended = True
        for controller in controllers:
            if controller.process:
                controller.process.kill()
                controller.process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
