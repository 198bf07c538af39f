"""Viewers that come and go and recordings, at a controller whose memory and descriptors are watched: see soak.sh.
   soak.py FEELER PORT PID SEED MINUTES ROUNDS LENGTH

Rounds of viewers follow each other. After each all are gone, and the process rests: then it must have the same descriptors and threads as
at the rests before. Of memory two things are judged:

  heap: the bytes that are allocated (/health). A leak shows here, however the allocator places things. From the second rest to the last
      it may grow by 1 KiB for each recording, of which the controller keeps a list, and by a little that comes and goes. Threads hold
      back nothing for their next allocations: soak.sh switches that off.
  anonymous pages: what the system has given for it. They grow to what the busiest moment needs, by fragments between what is allocated,
      and by buffers that were allocated at the start and are written for the first time, such as the events of the last hours. That has
      an end: so a bound for all of it, and in a long run another for the growth in the second half. Pages of files are left out: those
      of the program count as private or shared by whether another feeler happens to run.

The hashes: a second live run cannot be compared with the first. The hand is where the clock says when the loop reads it, some microseconds
apart in each run, and a grab or a release takes effect in the frame in which it arrives. So what the loop was given is recorded, while
viewers come and go, and given to a world without viewers, sockets and threads."""
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

GRAB, RELEASE, WATCH = 64, 65, 13
PATIENCE = 600
KIB, MIB = 1 << 10, 1 << 20
HEAP_PER_RECORDING, HEAP_NOISE = KIB, 64 * KIB
# so many look in for a moment during each recording, at least: in a short run 2 KiB that each leaves behind show
SHORT_VISITS = 80
# for all of a run; of a run that is longer than some minutes, for its second half, per second and at any time
PAGES, PAGES_PER_SECOND, PAGES_NOISE, LONG_RUN = 16 * MIB, MIB / 600, MIB, 240


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


def anonymous_bytes(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return KIB * sum(int(line.split()[1]) for line in file if line.startswith("Anonymous:"))


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


class Holder(threading.Thread):
    """Takes the part that moves, lets it go and takes it again; at rests it holds it."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.client, self.lock, self.ended, self.grabs, self.trouble = Client(port), threading.Lock(), False, 0, None
        self.client.ask(GRAB, struct.pack("<II", 0, 1))

    def run(self):
        try:
            while not self.ended:
                with self.lock:
                    self.client.ask(RELEASE, struct.pack("<I", 0))
                    self.client.ask(GRAB, struct.pack("<II", 0, 1))
                    self.grabs += 1
                time.sleep(0.05)
        except (OSError, ConnectionError, RuntimeError) as error:
            self.trouble = f"the part cannot be held any more: {error}"


def record(port, client, name, seconds):
    """Records, while others look in for a moment, one after the other; how many."""
    def started():
        try:
            client.ask(RECORD_START, text(name))
            return True
        except RuntimeError as error:  # its file may be whole before the controller has closed it
            if "still being written" not in str(error):
                raise
            return False

    await_it(started, "the recording before is closed")
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end or count < SHORT_VISITS:
        short = Client(port)
        short.send(WATCH, struct.pack("<II", 39, 200), 1)
        short.receive()
        short.socket.close()
        count += 1
        time.sleep(0.01)
    client.ask(RECORD_STOP)
    return count


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
                self.memory, self.files = max(self.memory, anonymous_bytes(self.pid)), max(self.files, len(descriptors(self.pid)))
            except OSError:
                pass  # a descriptor that was closed meanwhile
            time.sleep(1)


def rest(port, pid, most):
    """Waits until nobody is connected and the process has no more descriptors and threads than `most`, a pair of them (None: whatever it
    has when it is still), and looks at it. A controller that waits for a processor closes a connection some time after its end."""
    await_it(lambda: health(port)["clients"] == 1, "all viewers but the holder are gone")
    seen = []

    def quiet():
        try:
            seen.append((descriptors(pid), threads(pid)))
        except OSError:
            return False
        if most:
            return len(seen[-1][0]) <= len(most[0]) and seen[-1][1] <= most[1]
        return len(seen) > 20 and seen[-1] == seen[-2] == min(seen, key=lambda look: len(look[0]))

    try:
        await_it(quiet, "descriptors come to rest")
    except Trouble:
        (files, running), (expected, before) = seen[-1], most or seen[0]
        gone, new = [f for f in expected if f not in files], [f for f in files if f not in expected]
        raise Trouble(f"descriptors or threads do not come back: {len(expected)} and {before}, then {len(files)} and {running}: {gone} {new}")
    # a worker may be busy with what is near the held part: the least of some samples is what stays
    heaps = []
    for _ in range(8):
        heaps.append(health(port)["heap"])
        time.sleep(0.05)
    return seen[-1], anonymous_bytes(pid), min(heaps)


def round_of(port, feeler, chance, number, length):
    looks = [threading.Thread(target=viewer, args=(port, random.Random(chance.random()), chance.uniform(0.3, 1) * length)) for _ in range(chance.randrange(2, 7))]
    control = Client(port)
    try:
        for look in looks:
            look.start()
            time.sleep(chance.uniform(0, 0.1) * length)
        name = f"soak-{number}"
        short = record(port, control, name, chance.uniform(0.2, 0.8) * length)
        for look in looks:
            look.join()
    finally:
        control.socket.close()
    return len(looks) + short, verified(feeler, name)


def judge(rests, recordings, seconds):
    """What the memory did between the second rest and the last, in words; raises where it grew."""
    first, last = rests[1], rests[-1]
    half = [r for r in rests if r[0] >= seconds / 2] if len(rests) > 3 else rests[1:]
    growth = slope([(r[0], r[1]) for r in half])
    words = (f"{last[2] / MIB:.2f} MiB allocated, {(last[2] - first[2]) / KIB:+.0f} KiB since the second rest; "
             f"{last[1] / MIB:.2f} MiB of anonymous pages, {(last[1] - first[1]) / MIB:+.2f} MiB")
    if seconds > LONG_RUN:
        words += f", in the second half {growth * 600 / MIB:+.2f} MiB per 10 minutes"
    if last[2] - first[2] > HEAP_NOISE + HEAP_PER_RECORDING * recordings:
        wrong = "allocated bytes grow"
    elif last[1] - first[1] > PAGES or (seconds > LONG_RUN and growth > PAGES_NOISE / max(1, half[-1][0] - half[0][0]) + PAGES_PER_SECOND):
        wrong = "pages grow"
    else:
        return words
    print("  at the rests, seconds: MiB allocated, MiB of pages:", "  ".join(f"{r[0]:.0f}: {r[2] / MIB:.2f} {r[1] / MIB:.2f}" for r in rests))
    raise Trouble(f"{wrong}: {words}")


def main():
    feeler, port, pid, seed, minutes, rounds, length = sys.argv[1:]
    port, pid, minutes, rounds, length = int(port), int(pid), float(minutes), int(rounds), float(length)
    chance = random.Random(int(seed))
    holder = Holder(port)
    holder.start()
    watcher, began = Watcher(pid), time.monotonic()
    watcher.start()
    rests, viewers, frames, number = [], 0, 0, 0
    try:
        before = health(port)["frames"]
        while number < rounds or (not rounds and time.monotonic() < began + 60 * minutes):
            number += 1
            came, recorded = round_of(port, feeler, chance, number, length)
            viewers, frames = viewers + came, frames + recorded
            with holder.lock:
                # the first rest may have opened what stays open
                (files, running), pages, heap = rest(port, pid, rests[-1][3:] if len(rests) > 1 else None)
            rests.append((time.monotonic() - began, pages, heap, files, running))
            if number % 10 == 0:
                print(f"  {rests[-1][0]:.0f} s: {viewers} viewers, {frames} frames verified, {heap / MIB:.2f} MiB allocated, {pages / MIB:.2f} MiB of pages, "
                      f"{len(files)} descriptors, {running} threads", flush=True)
            if holder.trouble:
                raise Trouble(holder.trouble)
        looped, seconds = health(port)["frames"] - before, time.monotonic() - began
        measured = (f"{seconds:.0f} s, {looped / seconds:.0f} frames a second, {viewers} viewers, {holder.grabs} grabs, {number} recordings of {frames} frames: "
                    f"{judge(rests, number, seconds)} ({watcher.memory / MIB:.2f} MiB at most); {len(rests[-1][3])} descriptors ({watcher.files} at most), "
                    f"{rests[-1][4]} threads, the same hashes without viewers")
        print(f"soak: {measured}: held")
        return 0
    except Trouble as trouble:
        print(f"soak: {trouble}: NOT HELD")
        return 1
    finally:
        watcher.ended = holder.ended = True
        holder.client.socket.close()


if __name__ == "__main__":
    sys.exit(main())
