#!/usr/bin/python3
"""A client of a Rondo service as docs/protocol.md describes it, in Python, with FlatBuffers' own library.

usage: python_client.py SOCKET GENERATED

SOCKET is the service's Unix socket, GENERATED the folder that `flatc --python schemas/wire.fbs` wrote into.
Needs Debian's python3-flatbuffers. Ends with 0 when the service did all that the protocol promises.
"""
import socket
import struct
import sys

import flatbuffers

sys.path.insert(0, sys.argv[2])
from rondo.wire import (answer_body, ask_body, control, describe, description, find, found, hello, inspect, inspection,
                        outcome, request, response, send, welcome)


def type_id(name):
    """FNV-1a, 32 bits, of a message's qualified name."""
    value = 2166136261
    for byte in name.encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


class Client:
    def __init__(self, path, session):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(20)
        self.socket.connect(path)
        self.last_id = 0
        self.welcome = self.call(ask_body.ask_body().hello, self.hello(session), answer_body.answer_body().welcome,
                                 welcome.welcome)

    @staticmethod
    def hello(session):
        def build(b):
            program = b.CreateString("python_client.py")
            hello.helloStart(b)
            hello.helloAddVersion(b, 1)
            hello.helloAddSession(b, session)
            hello.helloAddProgram(b, program)
            return hello.helloEnd(b)
        return build

    def call(self, kind, build, wanted, answer):
        """One request, and its response: the table of that kind."""
        b = flatbuffers.Builder(256)
        body = build(b)
        self.last_id += 1
        request.requestStart(b)
        request.requestAddId(b, self.last_id)
        request.requestAddBodyType(b, kind)
        request.requestAddBody(b, body)
        # FlatBuffers calls the 4 bytes with the length a size prefix.
        b.FinishSizePrefixed(request.requestEnd(b))
        self.socket.sendall(b.Output())
        length, = struct.unpack("<I", self.read(4))
        r = response.response.GetRootAs(self.read(length), 0)
        assert r.Id() == self.last_id, r.Id()
        assert r.BodyType() == wanted, "another kind of answer: %d" % r.BodyType()
        table = answer()
        table.Init(r.Body().Bytes, r.Body().Pos)
        return table

    def read(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            assert more, "the service hung up"
            data += more
        return data

    def send(self, actor, message, payload, wants_reply, key=0):
        def build(b):
            name = b.CreateString(actor)
            data = b.CreateByteVector(payload)
            send.sendStart(b)
            send.sendAddName(b, name)
            send.sendAddType(b, type_id(message))
            send.sendAddWantsReply(b, wants_reply)
            send.sendAddKey(b, key)
            send.sendAddPayload(b, data)
            return send.sendEnd(b)
        return self.call(ask_body.ask_body().send, build, answer_body.answer_body().outcome, outcome.outcome)


def total(o):
    """What `struct total { value:ulong; }` says."""
    assert o.Status() == 0, o.Reason()
    assert o.Type() == type_id("rondo.basics.total")
    return struct.unpack("<Q", bytes(o.Payload(i) for i in range(o.PayloadLength())))[0]


def main():
    c = Client(sys.argv[1], session=4711)
    assert c.welcome.Version() == 1 and c.welcome.Incarnation() != 0

    # Tell, and ask with a reply; messages are little-endian structs.
    assert c.send("clicks", "rondo.basics.add", struct.pack("<Q", 40), False).Status() == 0
    assert total(c.send("clicks", "rondo.basics.add_and_get", struct.pack("<Q", 2), True)) == 42

    # The same key again over another connection: handled once, and answered again.
    assert total(c.send("clicks", "rondo.basics.add_and_get", struct.pack("<Q", 8), True, key=1)) == 50
    again = Client(sys.argv[1], session=4711)
    assert again.welcome.Incarnation() == c.welcome.Incarnation()
    assert total(again.send("clicks", "rondo.basics.add_and_get", struct.pack("<Q", 8), True, key=1)) == 50
    assert total(again.send("clicks", "rondo.basics.get", b"\0", True, key=2)) == 50

    # Errors are answered with the reason.
    assert b"not_found" in c.send("nobody", "rondo.basics.get", b"\0", True).Reason()
    assert b"unknown_message" in c.send("clicks", "rondo.basics.ping", struct.pack("<Q", 1), True).Reason()
    assert b"wrong_size" in c.send("clicks", "rondo.basics.add", b"\0", False).Reason()

    # The service's report about itself.
    def named(module, start, end, add):
        def build(b):
            name = b.CreateString("clicks")
            start(b)
            add(b, name)
            return end(b)
        return build
    where = c.call(ask_body.ask_body().find, named(find, find.findStart, find.findEnd, find.findAddName),
                   answer_body.answer_body().found, found.found)
    assert where.Behaviour() == b"rondo::basics::counter"
    i = c.call(ask_body.ask_body().inspect,
               named(inspect, inspect.inspectStart, inspect.inspectEnd, inspect.inspectAddName),
               answer_body.answer_body().inspection, inspection.inspection)
    assert i.Line().Handled() >= 4

    def nothing(b):
        describe.describeStart(b)
        return describe.describeEnd(b)
    d = c.call(ask_body.ask_body().describe, nothing, answer_body.answer_body().description, description.description)
    names = {d.Behaviours(n).Messages(m).Name(): d.Behaviours(n).Messages(m).Id()
             for n in range(d.BehavioursLength()) for m in range(d.Behaviours(n).MessagesLength())}
    assert names[b"rondo.basics.add"] == type_id("rondo.basics.add")
    print("all as docs/protocol.md says")


main()
