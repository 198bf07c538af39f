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
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
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
            if kind & 15 == 2:
                _, message, _, _, request, _ = struct.unpack_from("<IHBBII", frame)
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


RECORD_START, RECORD_STOP, UPLOAD, UPLOAD_BYTES, VOXELIZE = 80, 81, 89, 90, 94


def text(words):
    return struct.pack("<I", len(words)) + words.encode()


if __name__ == "__main__":
    what = sys.argv[2]
    given = {key.lower(): os.environ[key] for key in ("TOKEN", "CA", "HOST", "ORIGIN") if os.environ.get(key)}
    client = Client(int(sys.argv[1]), **given)
    if what == "hello":
        print("welcome")
    elif what == "work":  # one recording that ends, one that does not, an upload under way, voxels in the making
        client.ask(RECORD_START, text("first"))
        time.sleep(0.2)
        client.ask(RECORD_STOP)
        for attempt in range(100):  # when the first is whole on the disk
            time.sleep(0.2)
            try:
                client.ask(RECORD_START, text("second"))
                break
            except RuntimeError:
                pass
        upload = client.ask(UPLOAD, struct.pack("<QIId", 100000, 0, 0, 0.001) + text("part.stl"))
        client.ask(UPLOAD_BYTES, struct.pack("<IxxxxQI", upload, 0, 8) + b"solid a\n")
        print("uploading", flush=True)
        voxel = 0.0005
        while True:
            client.ask(VOXELIZE, struct.pack("<Ixxxxd", int(os.environ.get("PART", "0")), voxel))
            voxel = voxel * 1.01
            time.sleep(0.05)
