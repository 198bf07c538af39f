"""A client of a few lines for tests of feeler serve: frames as docs/protocol.md has them, over a plain socket."""
import os
import socket
import ssl
import struct
import sys
import time

HELLO, WELCOME, ERROR, DONE = 1, 2, 3, 10


class Client:
    def __init__(self, port, token="", role=0, ca=None, host="localhost", origin=None):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=600)
        if ca:
            self.socket = ssl.create_default_context(cafile=ca).wrap_socket(self.socket, server_hostname="localhost")
        origin = f"Origin: {origin}\r\n" if origin else ""
        self.socket.sendall((f"GET /ws HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{origin}"
                             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.exactly(1)
        assert b" 101 " in head, head
        text = token.encode()
        body = struct.pack("<BxxxII", role, 0x3F, len(text)) + text
        body += b"\0" * (-len(body) % 4) + struct.pack("<I", 4) + b"test"
        self.send(HELLO, body, 0)
        self.expect(WELCOME)
        self.number = 0

    def exactly(self, size):
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise ConnectionError("closed")
            data += piece
        return data

    def send(self, message, body, request):
        frame = struct.pack("<IHBBII", 16 + len(body), message, 1, 0, request, 0) + body
        size = struct.pack("!BH", 0x80 | 126, len(frame)) if len(frame) > 125 else bytes([0x80 | len(frame)])
        self.socket.sendall(b"\x82" + size + b"\0\0\0\0" + frame)

    def receive(self):
        while True:
            kind, size = self.exactly(2)
            if size == 126:
                size, = struct.unpack("!H", self.exactly(2))
            elif size == 127:
                size, = struct.unpack("!Q", self.exactly(8))
            frame = self.exactly(size)
            if kind & 15 == 8:
                raise ConnectionError("closed")
            if kind & 15 == 9:  # who does not answer is dropped after a while
                self.socket.sendall(bytes([0x8A, 0x80 | len(frame), 0, 0, 0, 0]) + frame)
            if kind & 15 == 2:
                _, message, _, _, request, _ = struct.unpack_from("<IHBBII", frame)
                if message == PING:
                    self.send(PONG, frame[16:24] + bytes(8), request)
                return message, request, frame[16:]

    def expect(self, message):
        while True:
            got, request, body = self.receive()
            if got == message:
                return request, body
            if got == ERROR:
                size, = struct.unpack_from("<I", body, 4)
                raise RuntimeError(body[8:8 + size].decode())

    def ask(self, message, body=b""):
        """A command; what done says it made."""
        self.number += 1
        self.send(message, body, self.number)
        while True:
            request, answer = self.expect(DONE)
            if request == self.number:
                return struct.unpack_from("<xxxxI", answer)[0]


    def state(self):
        """The newest state: its frame and where hand 0 is."""
        self.number += 1
        self.send(STATE_ASK, b"", self.number)
        while True:
            request, body = self.expect(STATE)
            if request == self.number:
                return struct.unpack_from("<Q", body)[0], struct.unpack_from("<3d", body, 136)


RECORD_START, RECORD_STOP, LOAD, UPLOAD, UPLOAD_BYTES, VOXELIZE, SAVE = 80, 81, 88, 89, 90, 94, 99
PING, PONG, WATCH, SCENE, PART, STATE_ASK, STATE = 8, 9, 13, 16, 17, 35, 32
WATCHER, WANT_STATE = 2, 1


def text(words):
    return struct.pack("<I", len(words)) + words.encode()


if __name__ == "__main__":
    what = sys.argv[2]
    given = {key.lower(): os.environ[key] for key in ("TOKEN", "CA", "HOST", "ORIGIN") if os.environ.get(key)}
    client = Client(int(sys.argv[1]), **given)
    if what == "hello":
        print("welcome")
    elif what == "stay":  # asks now and then, for so many seconds
        end = time.monotonic() + float(sys.argv[3])
        while time.monotonic() < end:
            client.send(PING, bytes(8), 1)
            client.expect(PONG)
            time.sleep(0.2)
        print("stayed")
    elif what == "watchers":  # so many at once besides this one; each gets states; prints how many
        crowd = [Client(int(sys.argv[1]), role=WATCHER) for _ in range(int(sys.argv[3]))]
        for one in crowd:
            one.send(WATCH, struct.pack("<II", WANT_STATE, 60), 1)
        for one in crowd:
            for _ in range(3):
                one.expect(STATE)
        print(len(crowd))
    elif what == "wait":  # pings, one after the other, while a scene is loaded and its voxels are made
        # prints how many were answered, how long one waited at worst and how long it all took, in ms
        began = time.monotonic()
        client.send(LOAD, text(sys.argv[3]), 1)
        worst, number, ready, parts = 0, 1, set(), 0
        while parts == 0 or len(ready) < parts:
            sent, number = time.monotonic(), number + 1
            client.send(PING, struct.pack("<Q", number), number)
            message = None
            while message != PONG:
                message, _, body = client.receive()
                if message == SCENE:
                    parts, ready = struct.unpack_from("<xxxxI", body)[0], set()
                elif message == PART:
                    part, is_ready = struct.unpack_from("<I5x?", body)
                    ready |= {part} if is_ready else set()
                elif message == ERROR:
                    raise RuntimeError(body[8:])
            worst = max(worst, time.monotonic() - sent)
            time.sleep(0.002)
        print(number - 1, round(worst * 1000), round((time.monotonic() - began) * 1000))
    elif what == "work":  # recordings that end, voxels in the making, an upload under way, scenes being saved: until somebody kills the server
        upload = client.ask(UPLOAD, struct.pack("<QIId", 100000, 0, 0, 0.001) + text("part.stl"))
        client.ask(UPLOAD_BYTES, struct.pack("<IxxxxQI", upload, 0, 8) + b"solid a\n")
        print("uploading", flush=True)
        voxel, made = 0.0005, None
        for turn in range(1000):
            name = f"{os.environ.get('ROUND', '0')}-{turn}"
            while True:  # it begins when the one before is whole on the disk
                try:
                    client.ask(RECORD_START, text(name))
                    break
                except RuntimeError:
                    time.sleep(0.01)
            if made:
                print("finished", made, flush=True)
            made = name
            time.sleep(0.05)
            for message, body in ((VOXELIZE, struct.pack("<Ixxxxd", int(os.environ.get("PART", "0")), voxel)), (SAVE, text("saved.json")), (RECORD_STOP, b"")):
                try:
                    client.ask(message, body)
                except RuntimeError:  # the scene is not there yet
                    pass
            voxel *= 1.01
