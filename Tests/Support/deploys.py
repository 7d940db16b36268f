"""Deployments for tests: plugins that answer with their version, uploads, and answers of the administration."""

import hashlib
import json
import pathlib
import urllib.parse

from hearth import library

OWNER = {'Authorization': 'Bearer owner'}
CALLABLE = {'callableTrigger': {}}


def on_write(ref, **options):
    """The endpoint of a function that runs on every write at `ref`."""
    return {'platform': 'gcfv2', **options, 'eventTrigger': {
        'eventType': 'google.firebase.database.ref.v1.written', 'eventFilterPathPatterns': {'ref': ref}}}


def plugin(version, *names, at_entry=None, **endpoints):
    """The path of a library whose functions answer with `version`. `at_entry` is C that runs when it is loaded."""
    everything = {**{name: CALLABLE for name in names}, **endpoints}
    for name, endpoint in everything.items():
        endpoint = {'entryPoint': name, 'platform': 'gcfv2', **endpoint}
        everything[name] = endpoint
    manifest = json.dumps({'specVersion': 'v1alpha1', 'endpoints': everything})
    more = {'AT_ENTRY': at_entry} if at_entry else {}
    return library('deployable', VERSION=version, MANIFEST=json.dumps(manifest), **more)


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


class Refused(Exception):
    """A refusal by the administration; `sentence` is its message."""

    def __init__(self, answer):
        error = answer.json['error']
        self.http, self.status, self.sentence, self.details = answer.status, error['status'], error['message'], error.get('details')
        super().__init__(f'{answer.status} {error}')


class Deploys:
    """The administration API of a host, by default with its admin token."""

    def __init__(self, host, headers=None):
        self.host = host
        self.headers = headers or {'Authorization': f'Bearer {(host.data / "admin-token").read_text().strip()}'}

    def ask(self, method, path, value=None, raw=None, timeout=60):
        body = raw if raw is not None else '' if value is None else json.dumps(value)
        answer = self.host.request(method, f'/_/api/{path}', self.headers, body, timeout=timeout)
        if answer.status != 200:
            raise Refused(answer)
        return answer.json

    # -- artifacts

    def upload(self, path, piece=8 << 20):
        """Uploads the missing part of a library, and returns the artifact's name."""
        content, name = pathlib.Path(path).read_bytes(), sha256(path)
        state = self.ask('GET', f'artifacts/{name}')
        while state['state'] != 'complete':
            at = state['receivedBytes']
            if at == len(content):
                state = self.ask('POST', f'artifacts/{name}:complete', {'sizeBytes': len(content)})
            else:
                state = self.ask('PUT', f'artifacts/{name}?offset={at}', raw=content[at:at + piece])
        return name

    # -- deployments

    def deploy(self, plugins, environment=None, functions=None, defaults=None, **options):
        """Uploads and deploys libraries, which are given by plugin name."""
        described = {name: {'artifact': self.upload(path), 'file': pathlib.Path(path).name, 'environment': environment or {},
                            'functions': functions or {}, 'defaults': defaults or {}} for name, path in plugins.items()}
        return self.ask('POST', 'deployments', {'plugins': described, **options})

    def plan(self, plugins, **options):
        return self.deploy(plugins, validateOnly=True, **options)

    def actions(self, outcome):
        return {change['function']: change['action'] for change in outcome['changes']}

    # -- functions

    @property
    def functions(self):
        return {function['name']: function for function in self.ask('GET', 'functions')['functions']}

    @property
    def revision(self):
        return self.ask('GET', 'functions')['revision']

    @property
    def history(self):
        return self.ask('GET', 'deployments')['deployments']

    def function(self, name):
        return self.ask('GET', f'functions/{urllib.parse.quote(name)}')

    def versions(self, name):
        return self.ask('GET', f'functions/{name}/versions')['versions']

    def roll_back(self, name, to=None):
        return self.ask('POST', f'functions/{name}:rollback', {} if to is None else {'to': to})

    def split(self, name, **versions):
        return self.ask('POST', f'functions/{name}:split', {'versions': {key.removeprefix('v'): share for key, share in versions.items()}})

    def delete(self, name):
        return self.ask('DELETE', f'functions/{name}')
