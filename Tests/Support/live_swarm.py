"""A process of test_live_model.py that runs many clients. Gets its orders as lines of JSON, and reports in the same way.

    live_swarm.py {"port": P, "namespace": N, "seed": S, "first": A, "count": B, "operations": C, "records": FILE}
"""

import collections
import json
import os
import pathlib
import pickle
import selectors
import sys
import time
import traceback

import live_world
from database_model import export_of, parse
from live_actor import Actor
from live_client import Fault
from live_views import digest, part

SETTLE_SECONDS = 30
ROUND_SECONDS = 0.02


class Swarm:
    def __init__(self, port, namespace, seed, first, count, operations, records):
        self.port, self.namespace, self.seed, self.left, self.file = port, namespace, seed, operations, pathlib.Path(records)
        self.queries = live_world.queries(seed)
        self.selector = selectors.DefaultSelector()
        self.messages = 0
        # For the check at the end.
        self.records, self.acknowledged, self.refused, self.transactions = [], {}, [], {}
        self.heard, self.denials, self.ends = {}, [], {}
        # The first number of each connection.
        self.beginnings = []
        self.counts = collections.Counter()
        self.clients = [Actor(self, number) for number in range(first, first + count)]
        self.is_winding_down = False
        for client in self.clients:
            client.begin()

    # Sockets

    def watch(self, client):
        self.selector.register(client.socket, selectors.EVENT_READ, client)

    def unwatch(self, client):
        if client.socket in self.selector.get_map():
            self.selector.unregister(client.socket)

    def want(self, client, does_write):
        if not client.is_resting:
            self.selector.modify(client.socket, selectors.EVENT_READ | (selectors.EVENT_WRITE if does_write else 0), client)

    def pause(self, client):
        self.selector.unregister(client.socket)

    def resume(self, client):
        self.watch(client)
        client.flush()

    # Records

    def keep(self, listen):
        self.records.append(listen.record())

    def count(self, name, least, most):
        self.counts[name, 'least'] += least
        self.counts[name, 'most'] += most

    # Life

    def round(self):
        """Lets each client do what it can do now."""
        is_busy = False
        for client in self.clients:
            if client.socket is None or client.is_resting:
                client.away = 0 if self.is_winding_down else client.away
                client.tick()
            elif self.left > 0 and client.may_act:
                client.act()
                self.left -= 1
                is_busy = True
            if client.out and client.socket is not None and not client.is_resting:
                client.flush()
        for key, events in self.selector.select(0 if is_busy else ROUND_SECONDS):
            client = key.data
            if client is None or client.socket is not key.fileobj:
                continue
            if events & selectors.EVENT_WRITE:
                client.flush()
            if events & selectors.EVENT_READ:
                client.read()

    def run(self):
        step = max(self.left // 16, 1)
        reported = self.left
        while self.left > 0:
            self.round()
            if reported - self.left >= step:
                reported -= step
                report(progress=self.left)
        self.is_winding_down = True
        while not all(client.is_greeted and not client.pending for client in self.clients):
            self.round()
        for client in self.clients:
            self.ends[client.end_name] = 0
        report(done=True, ends=self.ends, messages=self.messages, acknowledged=len(self.acknowledged),
               counts={name: [self.counts[name, 'least'], self.counts[name, 'most']] for name in live_world.COUNTERS})

    def settle(self, order):
        """Waits until all views are as the final data want them."""
        final = parse(json.loads(pathlib.Path(order['final']).read_text()))
        shut = {tuple(path) for path in order['shut']}
        end = time.monotonic() + SETTLE_SECONDS
        while True:
            wrong = [text for client in self.clients for text in self.differences(client, final, shut)]
            if not wrong:
                break
            if time.monotonic() > end:
                raise Fault(f'{len(wrong)} views are not up to date: {wrong[:5]}')
            self.round()
        for client in self.clients:
            for listen in client.listens.values():
                self.keep(listen)
        self.file.write_bytes(pickle.dumps({
            'records': self.records, 'acknowledged': self.acknowledged, 'refused': self.refused, 'transactions': self.transactions,
            'beginnings': self.beginnings, 'heard': self.heard, 'denials': self.denials}))
        report(settled=True, messages=self.messages, listens=sum(len(client.listens) for client in self.clients))

    def differences(self, client, final, shut):
        for listen in client.listens.values():
            if live_world.guard(listen.path) in shut and not client.is_admin:
                yield f'client {client.number} still listens to {listen.path}'
            elif listen.path[:1] == ('user',) and listen.path[1] != client.uid and not client.is_admin:
                yield f'client {client.number} still listens to {listen.path} as {client.uid}'
            else:
                node = part(final, listen.path)
                wanted = listen.query.result(node) if listen.query else node
                if digest(wanted) != digest(listen.view.node):
                    query = listen.query.text if listen.query else ''
                    yield f'client {client.number} at {listen.path} {query}: {export_of(listen.view.node)} instead of {export_of(wanted)}'


def report(**facts):
    print(json.dumps(facts), flush=True)


def main():
    assert os.environ.get('PYTHONHASHSEED') == '0', 'digests must be the same in all processes'
    try:
        swarm = Swarm(**json.loads(sys.argv[1]))
        swarm.run()
        os.set_blocking(0, False)
        swarm.selector.register(0, selectors.EVENT_READ, None)
        while not (line := sys.stdin.readline()):
            swarm.round()
        swarm.selector.unregister(0)
        swarm.settle(json.loads(line))
        # The end of the connections would change what the views of the other processes show. They end when the test does.
        os.set_blocking(0, True)
        sys.stdin.read()
    except Fault as fault:
        report(fault=str(fault))
        return 1
    except Exception:
        report(fault=traceback.format_exc())
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
