"""Kills feeler at random moments and looks whether everything that it acknowledged is there and whole.

Run by durability.sh in an empty folder with its own HOME: durability.py SOURCE_DIR SEED COUNT
"""
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import threading
import time

source, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
sys.path.insert(0, os.path.join(source, "tests", "e2e"))
import serve_client  # noqa: E402
from serve_client import RECORD_START, RECORD_STOP, SAVE, UPLOAD, UPLOAD_BYTES, text  # noqa: E402

WATCH, PLACE, RECORDING, UPLOAD_END, JOB = 13, 68, 83, 92, 112
TOKEN = "a-secret-that-nobody-knows"
PATIENCE = 120  # seconds: a busy machine is no reason to fail
chance = random.Random(seed)
cache = os.path.join(os.environ["HOME"], ".cache", "feeler")
problems = []
acknowledged = {"save": 0, "record": 0, "upload": 0, "voxelize": 0, "share": 0}
kills = dict.fromkeys(acknowledged, 0)
recordings = []  # that were finished
started = time.monotonic()


def problem(words):
    problems.append(words)
    print("  " + words, flush=True)


def run(*command):
    return subprocess.run(["feeler", *command], capture_output=True, text=True, timeout=PATIENCE)


class Server:
    """A feeler process with what it prints; it may be killed at any moment."""

    def __init__(self, *command, **environment):
        self.lines = []
        self.changed = threading.Condition()
        self.ended = False
        self.process = subprocess.Popen(["feeler", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, env={**os.environ, **environment})
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip())
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def find(self, pattern):
        return next((match for line in list(self.lines) if (match := re.search(pattern, line))), None)

    def wait(self, pattern):
        """Until a line has it. None: the process has ended without."""
        with self.changed:
            self.changed.wait_for(lambda: self.ended or self.find(pattern), timeout=PATIENCE)
            return self.find(pattern)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()


class Client(serve_client.Client):
    """Gathers what is reported while it waits for an answer."""

    def __init__(self, port, **given):
        self.jobs, self.finished = {}, set()
        super().__init__(port, **given)
        self.socket.settimeout(PATIENCE)
        self.ask(WATCH, struct.pack("<II", 0x30, 0))

    def receive(self):
        message, request, body = super().receive()
        if message == JOB:
            number, _, state, result = struct.unpack_from("<IBBB", body)
            if state == 2:
                self.jobs[number] = result
        elif message == RECORDING:
            finished, = struct.unpack_from("<B", body, 4)
            size, = struct.unpack_from("<I", body, 32)
            if finished:
                self.finished.add(body[36:36 + size].decode())
        return message, request, body

    def ends_well(self, job):
        while job not in self.jobs:
            self.receive()
        return self.jobs[job] == 0


def pose(x):
    return struct.pack("<7d", x, 0, 0.1, 1, 0, 0, 0)


def tetrahedron(size):
    corners = [(0, 0, 0), (size, 0, 0), (0, size, 0), (0, 0, size)]
    facets = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    lines = ["solid part"]
    for facet in facets:
        lines.append("facet normal 0 0 0\nouter loop")
        lines += ["vertex %g %g %g" % corners[i] for i in facet]
        lines.append("endloop\nendfacet")
    return ("\n".join(lines) + "\nendsolid part\n").encode()


# ---- what is done until somebody kills the server: each yields when something was acknowledged ----

class Work:
    attempts = 0  # of moving the part, over all rounds

    def __init__(self, port):
        self.port = port
        self.saved = None      # the number that the scene saved last has at least
        self.uploaded = []     # names of parts
        self.kept = []         # … that were in the scene when it was last saved
        self.recorded = []
        self.failure = None
        self.first = threading.Event()  # something was acknowledged, or nothing will be

    def done(self, kind):
        acknowledged[kind] += 1
        self.first.set()

    def save(self, client, name):
        return client.ends_well(client.ask(SAVE, text(name)))

    def do_save(self, client):
        while True:
            Work.attempts += 1
            while True:  # a part that has no voxels yet cannot be put anywhere
                try:
                    client.ask(PLACE, struct.pack("<Ixxxx", 1) + pose(Work.attempts * 1e-4))
                    break
                except RuntimeError as trouble:
                    if "not ready" not in str(trouble):
                        raise
                    time.sleep(0.005)
            if self.save(client, "plan.json"):
                # what is there now was acknowledged; the loop may have taken the last move after it was saved
                self.saved = state_of("ball/plan.json")
                self.done("save")

    def do_record(self, client):
        while True:
            Work.attempts += 1
            name = f"r{Work.attempts}"
            client.ask(RECORD_START, text(name))
            time.sleep(chance_for_work.random() * 0.03)
            client.ask(RECORD_STOP)
            while name not in client.finished:
                client.receive()
            self.recorded.append(name)
            self.done("record")

    def do_upload(self, client):
        while True:
            Work.attempts += 1
            name, data = f"u{Work.attempts}", tetrahedron(5 + Work.attempts % 97 / 10)
            upload = client.ask(UPLOAD, struct.pack("<QIId", len(data), 0, 0, 0.001) + text(name + ".stl"))
            half = len(data) // 2
            for at, piece in ((0, data[:half]), (half, data[half:])):
                client.ask(UPLOAD_BYTES, struct.pack("<IxxxxQI", upload, at, len(piece)) + piece)
            end = struct.pack("<IBxxxIxxxxd", upload, 1, 0, 0.0005) + pose(0.2 + 0.02 * (Work.attempts % 50))
            if client.ends_well(client.ask(UPLOAD_END, end)):
                self.uploaded.append(name)
                self.done("upload")
            there = list(self.uploaded)
            if self.save(client, "up.json"):
                self.kept = there

    def go(self, kind):
        try:
            getattr(self, "do_" + kind)(Client(self.port))
        except OSError:
            pass  # the server is gone
        except (RuntimeError, AssertionError) as trouble:
            self.failure = f"{kind}: {trouble}"
        finally:
            self.first.set()


chance_for_work = random.Random(seed + 1)


# ---- what must hold afterwards ----

def state_of(path):
    with open(path, encoding="utf-8") as file:
        moved = next(part for part in json.load(file)["parts"] if part.get("moving"))
    return round(moved.get("pose", {}).get("position", [0])[0] / 0.1)  # in mm, the unit of the scene


def check_scene(path, least, names):
    """The scene that is there is whole; with this number at least, and these parts."""
    if not os.path.exists(path):
        if least is not None or names:
            problem(f"{path} was saved and is not there")
        return
    try:
        with open(path, encoding="utf-8") as file:
            scene = json.load(file)
    except ValueError as trouble:
        problem(f"{path}: {trouble}")
        return
    found = {part["name"] for part in scene["parts"]}
    for name in names:
        if name not in found:
            problem(f"{path}: the part {name} was saved and is not in it")
    checked = run("info", path, *{os.path.join(os.path.dirname(path), part["file"]) for part in scene["parts"]})
    if checked.returncode != 0:
        problem(f"{path}: {checked.stderr.strip()}")
    if least is not None and state_of(path) < least:
        problem(f"{path}: holds state {state_of(path)}, but {least} was acknowledged")


def check_recordings(names):
    for first in range(0, len(names), 50):
        some = names[first:first + 50]
        checked = run("info", "--json", *(f"recordings/{name}.mcap" for name in some))
        files = json.loads(checked.stdout)["files"] if checked.returncode == 0 else []
        if len(files) != len(some) or not all(file["complete"] for file in files):
            problem(f"recordings {some[0]} … {some[-1]}: not all are complete: {checked.stderr.strip()}")


def check_cache():
    checked = run("cache", "verify")
    if checked.returncode != 0:
        problem(f"the cache: {checked.stdout.strip()} {checked.stderr.strip()}")


def temporary_files():
    return {name for name in os.listdir(cache) if name.endswith(".tmp")} if os.path.isdir(cache) else set()


def check_left_overs(running, before):
    """After a start: of all folders for one controller only those of the running ones are there, and of the temporary
    files that were there before none: the running ones may have made others."""
    for kind in ("uploads", "shared"):
        folder = os.path.join(cache, kind)
        names = os.listdir(folder) if os.path.isdir(folder) else []
        folders = [name for name in names if not name.endswith(".lock")]
        if len(folders) > running or len(names) > 2 * running:
            problem(f"{folder} holds {names} of {running} running")
    if temporary_files() & before:
        problem(f"temporary files stay in the cache: {temporary_files() & before}")


# ---- rounds ----

def serve_round(kind):
    scenes = [name for name in ("ball/scene.json", "ball/plan.json", "ball/up.json") if os.path.exists(name)]
    scene = "ball/plan.json" if kind == "save" and len(scenes) > 1 else chance.choice(scenes)
    if kind == "upload":
        scene = "ball/scene.json"
    before = temporary_files()
    server = Server("serve", scene, "--port", "0", "--no-devices", "--every-frame", "--recordings", "recordings")
    address = server.wait(r"://[^:]*:([0-9]+)/")
    loaded = server.wait("is loaded")
    if not address or not loaded:
        problem(f"feeler serve {scene}: {server.lines}")
        server.kill()
        return
    check_left_overs(1, before)
    work = Work(int(address[1]))
    worker = threading.Thread(target=work.go, args=(kind,), daemon=True)
    worker.start()
    # some at once, most when something was acknowledged, however slow the machine is
    if chance.random() < 0.7:
        work.first.wait(PATIENCE)
    time.sleep(chance.random() * 0.3)
    server.kill()
    worker.join()
    if work.failure:
        problem(work.failure)
    recordings.extend(work.recorded)
    if kind == "save":
        check_scene("ball/plan.json", work.saved, [])
    elif kind == "upload":
        check_scene("ball/up.json", None, work.kept)
    check_recordings(work.recorded[-2:])


def voxelize_round(kind):
    deadline = time.monotonic() + (chance.random() * 0.3 if chance.random() < 0.3 else PATIENCE)
    stored = []
    while True:
        if stored and (chance.random() < 0.5 or len(stored) > 3):
            deadline = time.monotonic() + chance.random() * 0.1  # in the middle of the next one
        voxel = f"{0.4 + chance.random():.6f}mm"
        process = subprocess.Popen(["feeler", "voxelize", "ball/ball.stl", "--voxel", voxel, "--json"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            out, err = process.communicate(timeout=max(0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            break
        if process.returncode != 0:
            problem(f"feeler voxelize: {err.strip()}")
            return
        stored.append(json.loads(out)["cache"]["key"])
        acknowledged[kind] += 1
    for key in stored:
        if not os.path.exists(os.path.join(cache, key + ".flrvox")):
            problem(f"voxels {key} were stored and are not in the cache")
    check_cache()


def share_round(kind):
    host = Server("serve", "ball/scene.json", "--share", "--share-port", "0", "--port", "0", "--no-devices",
                  "--token-file", "token")
    address = host.wait(r"feeler join (127\.0\.0\.1:[0-9]+) ")
    if not address or not host.wait("is loaded"):
        problem(f"a host: {host.lines}")
        host.kill()
        return
    guest = Server("join", address[1], "--token-file", "token", "--no-devices", "--port", "0")
    both = [host, guest]
    if chance.random() < 0.5:
        guest.wait("is loaded")
    time.sleep(chance.random() * 0.4)
    joined = guest.find("is loaded")
    killed = chance.randrange(2)
    both[killed].kill()
    other = both[1 - killed]
    if joined and other.process.poll() is not None:
        problem(f"the {'guest' if killed == 0 else 'host'} ended with the other: {other.lines}")
    elif joined:
        acknowledged[kind] += 1
        # who is left has the scene that both had, and can save it
        served = other.wait(r"://[^:]*:([0-9]+)/")
        try:
            client = Client(int(served[1]), token=TOKEN)
            if not client.ends_well(client.ask(SAVE, text("shared.json"))):
                problem("a shared scene could not be saved after the other was killed")
        except (OSError, RuntimeError) as trouble:
            problem(f"who is left: {trouble}")
        check_scene("shared.json" if killed == 0 else "ball/shared.json", None, ["ball"])
    other.kill()


rounds = {"save": serve_round, "record": serve_round, "upload": serve_round, "voxelize": voxelize_round,
          "share": share_round}
print(f"  seed {seed}, {count} kills", flush=True)
if run("make", "ball", "--out", "ball", "--quiet").returncode != 0:
    sys.exit("feeler make failed")
with open("token", "w", encoding="utf-8") as file:
    file.write(TOKEN + "\n")
done = 0
while done < count and len(problems) < 20:
    kind = list(rounds)[done % len(rounds)]
    rounds[kind](kind)
    kills[kind] += 1
    done += 1
    if done % 100 == 0:
        check_cache()
        run("cache", "clear")
        print(f"  {done} kills, {time.monotonic() - started:.0f} s, acknowledged {acknowledged}", flush=True)
check_recordings(recordings)
# one more that ends well leaves nothing behind
before = temporary_files()
server = Server("serve", "ball/scene.json", "--port", "0", "--no-devices", "--every-frame", "--recordings", "recordings")
port = server.wait(r"://[^:]*:([0-9]+)/")
server.wait("is loaded")
check_left_overs(1, before)
client = Client(int(port[1]))
for name in ("plan.json", "up.json"):
    if not client.ends_well(client.ask(SAVE, text(name))):
        problem(f"{name} cannot be saved any more")
server.process.terminate()
server.process.wait()
for folder, _, names in os.walk("ball"):
    left = [name for name in names if name.startswith(".feeler-")]
    if left:
        problem(f"{folder} holds {left}")
check_left_overs(0, temporary_files())
each = ", ".join(f"{kind} {number}" for kind, number in kills.items())
verdict = "NOT HELD" if problems else "held"
print(f"durability: {done} kills ({each}) in {time.monotonic() - started:.0f} s, {sum(acknowledged.values())} acknowledged "
      f"operations checked, {len(problems)} missing or damaged: {verdict}")
sys.exit(1 if problems else 0)
