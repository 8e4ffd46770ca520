#!/usr/bin/env python3
"""Publishes a request onto NATS and follows its run, with nothing but a socket from the standard library.

    python3 publish.py request.json

ORRERY_NATS_URL names the server (default nats://127.0.0.1:4222), ORRERY_NATS_PASSWORD_FILE the file that holds the
password of the user `external`. Exit code: 0 succeeded, 2 the run did not succeed, 3 the request was refused, 4 the
request was sent before and what there is of its run was told then. ORRERY_PATIENCE_S (default 30): how long nothing
may come of a run of which nothing has come yet.
"""

import json
import os
import socket
import sys
from urllib.parse import urlparse

ENDS = {"orrery.RUN_COMPLETED", "orrery.RUN_FAILED", "orrery.RUN_CANCELLED"}
# The next event of the runs that this user asked for: the server remembers in the durable `external` how far it is.
FEED = "$JS.orrery.API.CONSUMER.MSG.NEXT.FEED.external"
PATIENCE_S = float(os.environ.get("ORRERY_PATIENCE_S", "30"))
PULL = json.dumps({"batch": 1, "expires": int(PATIENCE_S * 1e9)}).encode()


class Nats:
    """As much of the NATS client protocol as publishing and subscribing takes."""

    def __init__(self, url, user, password):
        address = urlparse(url)
        self.socket = socket.create_connection((address.hostname, address.port or 4222), timeout=60)
        self.socket.settimeout(300)  # the server asks every two minutes whether somebody is there
        self.file = self.socket.makefile("rb")
        self.file.readline()  # INFO
        options = {"verbose": False, "pedantic": False, "user": user, "pass": password, "name": "publish.py"}
        self.send(f"CONNECT {json.dumps(options)}\r\nPING\r\n")
        reply = self.file.readline().decode()
        if not reply.startswith("PONG"):
            sys.exit(f"the server refused the connection: {reply.strip()}")

    def send(self, text):
        self.socket.sendall(text.encode())

    def subscribe(self, subject, number):
        self.send(f"SUB {subject} {number}\r\n")

    def publish(self, subject, payload, reply=""):
        self.socket.sendall(f"PUB {subject} {reply} {len(payload)}\r\n".encode() + payload + b"\r\n")

    def messages(self):
        while True:
            line = self.file.readline().decode().split()
            if not line:
                sys.exit("the server closed the connection")
            if line[0] == "PING":
                self.send("PONG\r\n")
            elif line[0] == "-ERR":
                sys.exit(" ".join(line))
            elif line[0] == "MSG":
                payload = self.file.read(int(line[-1]))
                self.file.readline()
                reply = line[3] if len(line) == 5 else ""
                yield line[1], payload and json.loads(payload), reply


def main():
    with open(sys.argv[1], "rb") as file:
        payload = file.read()
    request_id = json.loads(payload)["requestId"]
    with open(os.environ["ORRERY_NATS_PASSWORD_FILE"], encoding="utf-8") as file:
        password = file.read().strip()
    nats = Nats(os.environ.get("ORRERY_NATS_URL", "nats://127.0.0.1:4222"), "external", password)
    nats.subscribe(f"orrery.answer.{request_id}", 1)
    nats.subscribe("_INBOX_external.>", 2)
    nats.publish("orrery.requests", payload, "_INBOX_external.receipt")

    run_id, told = None, False
    for subject, message, reply in nats.messages():
        if subject == "_INBOX_external.receipt":
            if "error" in message:
                sys.exit(f"not stored: {message['error']}")
            print(f"stored as message {message['seq']} of {message['stream']}", flush=True)
            continue
        if subject.startswith("orrery.answer."):
            if "error" in message:
                print(f"refused: {message['error']['message']}", file=sys.stderr)
                sys.exit(3)
            run_id = message["runId"]
            print(f"accepted as run {run_id}", flush=True)
        elif reply.startswith("$JS.ACK."):
            nats.publish(reply, b"+ACK")
            if message["orreryrunid"] == run_id:
                told = True
                print(message["type"], message.get("subject", ""), flush=True)
                if message["type"] in ENDS:
                    sys.exit(0 if message["data"].get("outcome") == "succeeded" else 2)
        elif not told:  # nothing came while the server waited
            print(f"run {run_id} is known, and its events were told before; orrery show {run_id}", file=sys.stderr)
            sys.exit(4)
        # One at a time, and only when waited for: an event given to a program that has ended comes again seconds later.
        nats.publish(FEED, PULL, "_INBOX_external.feed")


main()
