"""Viewers that come and go and recordings, at a controller whose memory and descriptors are watched: see soak.sh.
   soak.py FEELER PORT PID SEED MINUTES ROUNDS LENGTH

Rounds of viewers follow each other. After each all are gone, and the process rests: then it must have the same descriptors and threads as
at the rests before, and over the second half of the time its private memory must not grow."""
import json
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request

from serve_client import Client, RECORD_START, RECORD_STOP, text

GRAB, WATCH = 64, 13
PATIENCE = 600
# a MiB in ten minutes, and what one allocation may add at any time; in the first minutes the heap grows to what it needs
GROWTH_PER_SECOND, NOISE, WARM_UP, WARM_UP_SECONDS = (1 << 20) / 600, 1 << 20, 32 << 20, 240


class Trouble(Exception):
    """The guarantee does not hold."""


def await_it(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise Trouble(f"did not happen within {PATIENCE} s: {what}")
        time.sleep(0.02)


def health(port):
    with urllib.request.urlopen(f"http://localhost:{port}/health", timeout=PATIENCE) as answer:
        return json.load(answer)


def private_bytes(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return 1024 * sum(int(line.split()[1]) for line in file if line.startswith("Private_"))


def descriptors(pid):
    return sorted(os.readlink(f"/proc/{pid}/fd/{fd}").split(":")[0] for fd in os.listdir(f"/proc/{pid}/fd"))


def threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def viewer(port, chance, seconds):
    """One that comes, looks for a while and goes, in one of several ways."""
    end, way = time.monotonic() + seconds, chance.randrange(6)
    try:
        if way == 0:  # asks for the page and how things are
            while time.monotonic() < end:
                for path in ("", "health", "nowhere"):
                    try:
                        urllib.request.urlopen(f"http://localhost:{port}/{path}", timeout=PATIENCE).read()
                    except urllib.error.HTTPError as error:
                        error.close()
        elif way == 1:  # half a request, and gone
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as half:
                half.sendall(b"GET /ws HTTP/1.1\r\nHost: local")
                time.sleep(seconds / 2)
        else:
            client = Client(port)
            client.send(WATCH, struct.pack("<II", chance.choice([1, 3, 39]), chance.choice([1, 60, 200])), 1)
            while way != 2 and time.monotonic() < end:  # one does not read what it has asked for
                client.receive()
            if way == 2:
                time.sleep(seconds)
            if way == 3:  # goes as one should
                client.socket.sendall(b"\x88\x80\0\0\0\0")
            client.socket.close()
    except (OSError, ConnectionError):
        pass  # dropped, as it may be where it does not read


def stay(client):
    """Reads, and answers pings, until the end."""
    try:
        while True:
            client.receive()
    except (OSError, ConnectionError):
        pass


def record(port, client, name, seconds):
    client.ask(RECORD_START, text(name))
    time.sleep(seconds)
    client.ask(RECORD_STOP)


def verified(feeler, name):
    """The recording is whole on the disk and gives the same hashes without viewers; its frames."""
    path = f"tapes/{name}.mcap"

    def whole():
        info = subprocess.run([feeler, "info", path, "--json"], capture_output=True)
        return info.returncode == 0 and json.loads(info.stdout)["files"][0]["complete"]

    await_it(whole, f"{path} is complete")
    replay = subprocess.run(["nice", feeler, "replay", path, "--json"], capture_output=True)
    result = json.loads(replay.stdout or b"{}")
    if replay.returncode != 0 or not result.get("same") or result.get("not_replayed"):
        raise Trouble(f"{path} is not the same without viewers: {replay.stdout.decode()[:300]} {replay.stderr.decode()[:300]}")
    os.remove(path)
    return result["frames"]


def slope(samples):
    """Bytes per second, least squares."""
    n, times, values = len(samples), [s[0] for s in samples], [s[1] for s in samples]
    t, v = sum(times) / n, sum(values) / n
    spread = sum((x - t) ** 2 for x in times)
    return sum((x - t) * (y - v) for x, y in zip(times, values)) / spread if spread else 0


class Watcher(threading.Thread):
    """Samples of every second; the worst of them are printed, the rests are judged."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.ended, self.memory, self.files = pid, False, 0, 0

    def run(self):
        while not self.ended:
            try:
                self.memory, self.files = max(self.memory, private_bytes(self.pid)), max(self.files, len(descriptors(self.pid)))
            except OSError:
                pass  # a descriptor that was closed meanwhile
            time.sleep(1)


def rest(port, pid):
    """Waits until nobody is connected, and looks at the process."""
    await_it(lambda: health(port)["clients"] == 1, "all viewers but the holder are gone")
    seen = []

    def still():
        try:
            seen.append((descriptors(pid), threads(pid)))
        except OSError:
            return False
        return len(seen) > 1 and seen[-1] == seen[-2]

    # its own answer to this script is the last to be closed
    await_it(still, "descriptors come to rest")
    return seen[-1], private_bytes(pid)


def round_of(port, feeler, chance, number, length):
    looks = [threading.Thread(target=viewer, args=(port, random.Random(chance.random()), chance.uniform(0.3, 1) * length)) for _ in range(chance.randrange(2, 7))]
    control = Client(port)
    try:
        for look in looks:
            look.start()
            time.sleep(chance.uniform(0, 0.1) * length)
        name = f"soak-{number}"
        record(port, control, name, chance.uniform(0.2, 0.8) * length)
        for look in looks:
            look.join()
    finally:
        control.socket.close()
    return len(looks), verified(feeler, name)


def main():
    feeler, port, pid, seed, minutes, rounds, length = sys.argv[1:]
    port, pid, minutes, rounds, length = int(port), int(pid), float(minutes), int(rounds), float(length)
    chance = random.Random(int(seed))
    # the hand takes the part that moves, for as long as who asked for it stays
    holder = Client(port)
    holder.ask(GRAB, struct.pack("<II", 0, 1))
    threading.Thread(target=stay, args=(holder,), daemon=True).start()
    watcher, began = Watcher(pid), time.monotonic()
    watcher.start()
    rests, viewers, frames, number = [], 0, 0, 0
    try:
        before = health(port)["frames"]
        while number < rounds or (not rounds and time.monotonic() < began + 60 * minutes):
            number += 1
            came, recorded = round_of(port, feeler, chance, number, length)
            viewers, frames = viewers + came, frames + recorded
            (files, running), memory = rest(port, pid)
            rests.append((time.monotonic() - began, memory, files, running))
            if number % 10 == 0:
                print(f"  {rests[-1][0]:.0f} s: {viewers} viewers, {frames} frames verified, {memory / (1 << 20):.2f} MiB, {len(files)} descriptors, {running} threads", flush=True)
            # the first rest may have opened what stays open
            if len(rests) > 2 and (files != rests[1][2] or running != rests[1][3]):
                gone, new = [f for f in rests[1][2] if f not in files], [f for f in files if f not in rests[1][2]]
                raise Trouble(f"descriptors or threads do not come back: {len(rests[1][2])} and {rests[1][3]}, then {len(files)} and {running}: {gone} {new}")
        looped, seconds = health(port)["frames"] - before, time.monotonic() - began
        half = [r for r in rests if r[0] >= seconds / 2] if len(rests) > 3 else rests[1:]
        growth = slope(half)
        allowed = (NOISE if seconds > WARM_UP_SECONDS else WARM_UP) / max(1, half[-1][0] - half[0][0]) + GROWTH_PER_SECOND
        measured = (f"{seconds:.0f} s, {looped / seconds:.0f} frames a second, {viewers} viewers, {number} recordings of {frames} frames: "
                    f"{rests[1][1] / (1 << 20):.2f} MiB private at the second rest, {rests[-1][1] / (1 << 20):.2f} MiB at the last ({watcher.memory / (1 << 20):.2f} at most), "
                    f"{growth * 600 / (1 << 20):+.2f} MiB per 10 minutes in the second half, {len(rests[-1][2])} descriptors ({watcher.files} at most), "
                    f"{rests[-1][3]} threads, the same hashes without viewers")
        if growth > allowed:
            print("  private MiB at the rests:", " ".join(f"{r[0]:.0f}s:{r[1] / (1 << 20):.2f}" for r in rests))
            raise Trouble(f"memory grows: {measured}")
        print(f"soak: {measured}: held")
        return 0
    except Trouble as trouble:
        print(f"soak: {trouble}: NOT HELD")
        return 1
    finally:
        watcher.ended = True
        holder.socket.close()


if __name__ == "__main__":
    sys.exit(main())
