"""Makes the archive that test_earlier_data.py opens, with the binary that is built: run it before a change of a stored format.

    cd Tests && PYTHONPATH=Support ../.build-venv/bin/python EndToEnd/earlier/make_data.py EndToEnd/earlier/data-2.tar.xz

The archive has the data folder of a host that was killed, and `expected.json`. Nothing in it is secret: the host it was made by is gone.
"""

import json
import pathlib
import shutil
import signal
import sys
import tarfile
import tempfile
import time

from databases import OWNER, Database
from hearth import Host
from messaging import OWN, Messaging
from processes import until
from tokens import PROJECT

DEFAULT = f'{PROJECT}-default-rtdb'
RULES = {'rules': {
    'scores': {'.read': True, '.indexOn': ['points']}, 'closed': {'.read': False}, 'noted': {'.write': True}}}
SCORES = {
    'ada': {'points': 30, 'name': 'Ada', '.priority': 2}, 'bob': {'points': 10, 'name': 'Bøb 😀', '.priority': 'x'},
    'cyd': {'points': 20, 'tags': {'0': 'a', '1': 'b'}, '.priority': 1}}
LARGE = {f'k{number:04}': {'n': number, 'text': f'entry {number} ' * 3} for number in range(300)}


def notes(host):
    return [note['context']['event'] for note in host.noted()]


def fill_databases(host):
    with Database(host, DEFAULT) as database:
        database.use_rules(RULES)
        database.put('/scores.json', SCORES)
        database.put('/closed.json', {'deep': {'er': [True, 1.5, 'text']}})
        database.put('/gone.json', LARGE)
        assert database.ask('DELETE', '/gone.json').status == 200
        database.put('/noted/failing.json', 'fail')
        until(lambda: json.loads(host.request('GET', '/_/api/databases/-/dead-letters', OWNER).body)['deadLetters'], 'a dead letter')
    with Database(host, 'second') as database:
        database.use_rules({'rules': {'.read': True}})
        database.put('/large.json', LARGE)
    with Database(host, DEFAULT) as database:
        database.put('/noted/waiting.json', 'hangOnce')
        database.put('/noted/waiting.json', 'next')
        until(lambda: any(event['ref'] == 'noted/waiting' for event in notes(host)), 'the event that hangs')
    letter = json.loads(host.request('GET', '/_/api/databases/-/dead-letters', OWNER).body)['deadLetters'][0]
    return {
        'rules': RULES, 'scores': SCORES, 'large': LARGE, 'letter': {key: letter[key] for key in ('id', 'event', 'function', 'path', 'error')},
        'waiting': next(event['id'] for event in notes(host) if event['ref'] == 'noted/waiting')}


def fill_messages(host):
    admin = Messaging(host, PROJECT)
    phone, browser = admin.register(name='phone'), admin.register('web', 'https://app.example.com')
    admin.subscribe('news', [phone['token'], browser['token']])
    kept = admin.send({'token': phone['token'], 'data': {'k': 'kept'}})
    old = admin.send({'token': phone['token'], 'data': {'k': 'old'}, 'android': {'collapse_key': 'c'}})
    new = admin.send({'token': phone['token'], 'data': {'k': 'new'}, 'android': {'collapse_key': 'c'}})
    topic = admin.send({'topic': 'news', 'data': {'k': 'topic'}})
    admin.settled(topic)
    account = admin.account()
    devices = admin.do('GET', f'{OWN}/projects/{PROJECT}/devices')['devices']
    admin.close()
    assert len(devices) == 2
    return {'phone': phone, 'browser': browser, 'kept': kept, 'old': old, 'new': new, 'topic': topic, 'account': account}


def make(target):
    folder = pathlib.Path(tempfile.mkdtemp(prefix='hearth-data-'))
    host = Host(folder, ['events'], mode='development').start()
    try:
        expected = {**fill_messages(host), **fill_databases(host), 'made': int(time.time() * 1000)}
        host.kill()
    finally:
        host.abandon()
    (folder / 'expected.json').write_text(json.dumps(expected, indent=1))
    with tarfile.open(target, 'w:xz') as archive:
        archive.add(folder / 'expected.json', 'expected.json')
        archive.add(folder / 'data/admin-token', 'data/admin-token')
        for path in sorted(host.data.rglob('*.sqlite*')):
            if not path.name.endswith('-shm'):
                archive.add(path, f'data/{path.relative_to(host.data)}')
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == '__main__':
    signal.alarm(120)
    make(sys.argv[1])
