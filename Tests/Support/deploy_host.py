"""A fake host that only has deployments, kept in memory, and fails on demand.

Its libraries are texts whose first line lists the names of the functions.
"""

import contextlib
import hashlib
import json
import re
import threading
import urllib.parse

from local_server import Handler, LocalServer

PIECE_MAX = 8 << 20
TOKEN = 'deploy-token'


def library(*functions, more=0):
    """A fake library with these functions, padded by so many bytes."""
    return ' '.join(functions).encode() + b'\n' + bytes(n * 7 % 251 for n in range(min(more, 4096))) * (more // 4096 if more > 4096 else 1)


class Dropped(Exception):
    """Raised to cut the connection."""


class DeployHost(LocalServer):
    """Serves on a free port until it is closed."""

    def __init__(self):
        self.lock, self.pieces, self.complete = threading.RLock(), {}, {}
        self.functions, self.revision, self.deployments = {}, 1, []
        self.requests, self.faults, self.stored = [], {}, 0
        super().__init__(type('Bound', (Step,), {'host': self}))

    def fail(self, step, *faults):
        """Sets the actions for the next times of a step: an exception, an answer (status, object), or a function; None for success."""
        self.faults.setdefault(step, []).extend(faults)

    def steps(self):
        return [step for step, _ in self.requests]

    def bodies(self, step):
        return [body for name, body in self.requests if name == step]

    def meet(self, step):
        queue = self.faults.get(step)
        fault = queue.pop(0) if queue else None
        if isinstance(fault, BaseException) or (isinstance(fault, type) and issubclass(fault, BaseException)):
            raise fault
        return fault() if callable(fault) else fault

    # -- the state

    def serve(self, plugin, *names):
        """Adds functions as if they had been deployed earlier."""
        for name in names:
            self.functions[name] = {'plugin': plugin, 'version': 1, 'artifact': 'f' * 64, 'options': None, 'environment': {}}

    def plan(self, request):
        names = {plugin: self.complete[one['artifact']].split(b'\n')[0].decode().split() for plugin, one in request['plugins'].items()}
        chosen = request.get('names')
        changes = []
        for plugin, one in request['plugins'].items():
            for name in names[plugin]:
                made = {'plugin': plugin, 'artifact': one['artifact'], 'options': one['functions'].get(name), 'environment': one['environment']}
                changes.append(self.change(name, made))
            gone = [name for name, known in self.functions.items() if known['plugin'] == plugin and not any(name in had for had in names.values())]
            action = 'delete' if request['removes'] else 'keep'
            changes += [({'function': name, 'plugin': plugin, 'action': action, 'reason': 'gone from the plugin',
                          'fromVersion': self.functions[name]['version']}, None) for name in gone]
        return [change for change in changes if chosen is None or change[0]['function'] in chosen]

    def change(self, name, made):
        known = self.functions.get(name)
        said = {'function': name, 'plugin': made['plugin']}
        if known is None:
            return {**said, 'action': 'create', 'reason': 'new', 'toVersion': 1}, {**made, 'version': 1}
        if all(known[key] == made[key] for key in made):
            return {**said, 'action': 'unchanged', 'reason': 'same library and options', 'fromVersion': known['version']}, None
        version = known['version'] + 1
        reason = 'library' if known['artifact'] != made['artifact'] else 'options'
        return {**said, 'action': 'update', 'reason': reason, 'fromVersion': known['version'], 'toVersion': version}, {**made, 'version': version}

    def deploy(self, request):
        for plugin, one in request['plugins'].items():
            if one['artifact'] not in self.complete:
                return 400, refusal('INVALID_ARGUMENT', f'the library of {plugin} is not here', refusals=[], absent=[one['artifact']])
        changes = self.plan(request)
        answer = {'revision': self.revision, 'changes': [said for said, _ in changes]}
        if request['validateOnly']:
            return 200, answer
        if request.get('expectedRevision') not in (None, self.revision):
            return 409, refusal('ABORTED', 'the functions changed since they were looked at', revision=self.revision)
        for said, made in changes:
            if said['action'] == 'delete':
                del self.functions[said['function']]
            elif made:
                self.functions[said['function']] = made
        self.revision += 1
        self.deployments.append(request)
        return 200, {**answer, 'revision': self.revision, 'deployment': len(self.deployments)}

    def shown(self, name):
        known = self.functions[name]
        return {'name': name, 'trigger': 'callable', 'region': 'us-central1', 'plugin': known['plugin'], 'version': known['version'],
                'artifact': known['artifact'], 'memoryMb': 256, 'traffic': {str(known['version']): 100}, 'url': f'{self.url}/demo/us-central1/{name}'}

    def state(self, digest):
        if digest in self.complete:
            return {'state': 'complete', 'receivedBytes': len(self.complete[digest])}
        received = len(self.pieces.get(digest, b''))
        return {'state': 'partial' if received else 'absent', 'receivedBytes': received}


def refusal(status, message, **details):
    return {'error': {'status': status, 'message': message, **({'details': details} if details else {})}}


class Step(Handler):
    """A connection."""

    host = None

    def do_GET(self):
        self.handle_step()

    do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815

    def handle_step(self):
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path).removeprefix('/_/api')
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        host = self.host
        try:
            step, act = self.action(path, query)
            answer = host.meet(step)
            if not isinstance(answer, tuple):
                with host.lock:
                    answer = act()
            after = host.meet(f'after {step}')
            self.answer(*(after if isinstance(after, tuple) else answer))
        except (Dropped, OSError):
            self.close_connection = True
            with contextlib.suppress(OSError):
                self.connection.shutdown(2)

    def action(self, path, query):
        host, method = self.host, self.command
        if self.headers.get('Authorization') != f'Bearer {TOKEN}':
            return 'refuse', lambda: (401, refusal('UNAUTHENTICATED', 'the administration asks for the admin token'))
        if method == 'PUT':
            return self.piece(path.split('/')[-1], int(query['offset']))
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        body = json.loads(body) if body else None
        if path in ('', '/'):
            step, act = 'project', lambda: (200, {'project': 'demo', 'mode': 'development'})
        elif path == '/functions':
            step, act = 'list', lambda: (200, {'revision': host.revision, 'functions': [host.shown(name) for name in host.functions]})
        elif path == '/deployments':
            step, act = ('plan' if body['validateOnly'] else 'deploy'), lambda: host.deploy(body)
        elif found := re.fullmatch(r'/artifacts/([0-9a-f]{64})(:complete)?', path):
            step = 'complete' if found[2] else 'state'
            act = (lambda: self.check(found[1], body['sizeBytes'])) if found[2] else (lambda: (200, host.state(found[1])))
        else:
            step, act = 'unknown', lambda: (404, refusal('NOT_FOUND', f'there is nothing at {path}'))
        host.requests.append((step, body))
        return step, act

    def piece(self, digest, offset):
        """Stores a piece, as far as it was received."""
        host = self.host
        length, at = int(self.headers['Content-Length']), offset
        host.requests.append(('put', {'offset': offset, 'length': length}))
        known = len(host.pieces.setdefault(digest, bytearray()))
        early = host.meet('receive')
        while length and known == offset:
            part = self.rfile.read(min(length, 64 << 10))
            if not part:
                raise Dropped
            host.pieces[digest] += part
            host.stored += len(part)
            length, at = length - len(part), at + len(part)
            if isinstance(early, int) and at - offset >= early:
                raise Dropped
        if known != offset:
            self.rfile.read(length)
            return 'put', lambda: (409, refusal('ABORTED', 'the piece begins elsewhere', receivedBytes=known))
        return 'put', lambda: (200, host.state(digest))

    def check(self, digest, size):
        host = self.host
        data = bytes(host.pieces.pop(digest, b''))
        if len(data) != size or hashlib.sha256(data).hexdigest() != digest:
            return 400, refusal('INVALID_ARGUMENT', 'what was sent is not the library of this name; send it again')
        host.complete[digest] = data
        return 200, host.state(digest)

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
