"""HTTP and WebSocket for an operator and a worker of Tutti, with nothing but Python's standard library."""

import base64
import hashlib
import http.client
import json
import os
import socket
import struct
import time
import urllib.parse


class Refused(Exception):
    """The service answered with an error. `problem` is its problem document."""

    def __init__(self, status, problem, retry_after):
        super().__init__(f"{status} {problem}")
        self.status = status
        self.problem = problem
        self.retry_after = retry_after


def call(base, method, path, bearer, body=None, headers=None):
    """One request. A `str` is sent as text, anything else as JSON. Returns the JSON of the answer, or None."""
    url = urllib.parse.urlsplit(base)
    sent = {"Authorization": f"Bearer {bearer}", **(headers or {})}
    data = None
    if isinstance(body, str):
        data, sent["Content-Type"] = body.encode(), "text/plain"
    elif body is not None:
        data, sent["Content-Type"] = json.dumps(body).encode(), "application/json"
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=75)
    try:
        connection.request(method, path, data, sent)
        reply = connection.getresponse()
        text = reply.read().decode()
        if reply.status >= 300:
            problem = json.loads(text) if text.startswith("{") else {}
            raise Refused(reply.status, problem, reply.getheader("Retry-After"))
        return json.loads(text) if text else None
    finally:
        connection.close()


def persistently(*arguments, **more):
    """Repeats a call that may be repeated until it is answered: the service may be restarting."""
    for tries in range(1, 200):
        try:
            return call(*arguments, **more)
        except Refused as refused:
            if refused.status not in (429, 500, 503, 507):
                raise
            time.sleep(float(refused.retry_after or 0.2))
        except (OSError, http.client.HTTPException):
            time.sleep(min(0.05 * tries, 0.5))
    raise TimeoutError("the service did not come back")


class Closed(Exception):
    """The connection is over. `code` is the close code; 1006 if there was none."""

    def __init__(self, code):
        super().__init__(str(code))
        self.code = code


class WebSocket:
    """A client of RFC 6455 for text frames."""

    TEXT, CLOSE, PING, PONG = 1, 8, 9, 10

    def __init__(self, base, path, bearer, subprotocol):
        url = urllib.parse.urlsplit(base)
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket = socket.create_connection((url.hostname, url.port), timeout=100)
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {url.netloc}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Protocol: {subprotocol}",
            f"Authorization: Bearer {bearer}",
        ]
        self._socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self._file = self._socket.makefile("rb")
        status = int(self._file.readline().split()[1])
        headers = http.client.parse_headers(self._file)
        if status != 101:
            text = self._file.read(int(headers.get("Content-Length", "0"))).decode()
            raise Refused(status, json.loads(text) if text.startswith("{") else {}, headers.get("Retry-After"))
        expected = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        if headers["Sec-WebSocket-Accept"] != base64.b64encode(expected).decode():
            raise ValueError("the handshake was answered by something else")

    def send(self, value):
        self._send(self.TEXT, json.dumps(value).encode())

    def receive(self):
        """The next text message as JSON. Answers pings. Raises `Closed` at the end."""
        parts = []
        while True:
            try:
                final, opcode, payload = self._frame()
            except (OSError, EOFError):
                raise Closed(1006) from None
            if opcode == self.CLOSE:
                code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else 1005
                raise Closed(code)
            if opcode == self.PING:
                self._send(self.PONG, payload)
            elif opcode != self.PONG:
                parts.append(payload)
                if final:
                    return json.loads(b"".join(parts).decode())

    def close(self):
        self._socket.close()

    def _frame(self):
        first, second = self._read(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", self._read(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self._read(8))
        return bool(first & 0x80), first & 0x0F, self._read(length)

    def _read(self, count):
        data = self._file.read(count)
        if len(data) < count:
            raise EOFError
        return data

    def _send(self, opcode, payload):
        """A client masks every frame."""
        mask = os.urandom(4)
        length = len(payload)
        if length < 126:
            head = struct.pack(">BB", 0x80 | opcode, 0x80 | length)
        elif length < 65536:
            head = struct.pack(">BBH", 0x80 | opcode, 0x80 | 126, length)
        else:
            head = struct.pack(">BBQ", 0x80 | opcode, 0x80 | 127, length)
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        self._socket.sendall(head + mask + masked)
