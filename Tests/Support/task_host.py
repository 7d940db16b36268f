"""A host with task queues, and what tests of tasks ask of it."""

import base64
import json
from datetime import datetime, timezone

from databases import OWNER
from identity import Clock
from processes import until
from tokens import PROJECT
from upgrading import Upgradable

PLACE = f'/v2/projects/{PROJECT}/locations/us-central1/queues'


class TaskHost(Upgradable):
    """A host with the functions of the plugin `Queues`, and clocks that the test moves."""

    def __init__(self, folder, **config):
        folder.mkdir(parents=True, exist_ok=True)
        self.clock = Clock(folder / 'clock')
        super().__init__(folder, ['Queues'], mode='development', config=config, env=self.clock.variables)

    def get(self, path):
        return self.request('GET', f'/{path}.json', OWNER).json

    def put(self, path, value):
        answer = self.request('PUT', f'/{path}.json', OWNER, json.dumps(value))
        assert answer.status == 200, answer.text

    def post(self, target, body=None, **options):
        return self.request('POST', target, {**OWNER, 'Content-Type': 'application/json'}, json.dumps(body or {}), **options)

    def enqueue(self, queue, data=None, name=None, headers=None, **task):
        """Enqueues as the Admin SDKs do."""
        body = base64.b64encode(json.dumps({'data': data}).encode()).decode()
        task['httpRequest'] = {'url': 'https://example.com/', 'body': body, 'headers': headers or {}, 'oidcToken': {'serviceAccountEmail': 'a@b.c'}}
        if name is not None:
            task['name'] = f'projects/{PROJECT}/locations/us-central1/queues/{queue}/tasks/{name}'
        return self.post(f'{PLACE}/{queue}/tasks', {'task': task})

    def enqueued(self, *arguments, **options):
        """The id of the new task."""
        answer = self.enqueue(*arguments, **options)
        assert answer.status == 200, answer.text
        return answer.json['name'].split('/')[-1]

    def delete(self, queue, task):
        return self.request('DELETE', f'{PLACE}/{queue}/tasks/{task}', OWNER)

    def runs(self, name):
        """The attempts of a function, in their order."""
        return list((self.get(f'runs/{name}') or {}).values())

    def until_runs(self, name, count, seconds=20):
        return until(lambda: len(found := self.runs(name)) >= count and found, f'{count} runs of {name}', seconds)

    def queue(self, name):
        return next(queue for queue in self.request('GET', '/_/api/tasks', OWNER).json['queues'] if queue['name'] == name)

    def until_empty(self, name):
        return until(lambda: self.queue(name)['tasks'] == 0, f'{name} is empty')

    def tasks(self, name):
        return self.request('GET', f'/_/api/tasks/{name}', OWNER).json['tasks']

    def letters(self):
        return self.request('GET', '/_/api/tasks/dead-letters', OWNER).json['deadLetters']

    def act(self, target):
        answer = self.post(f'/_/api/tasks/{target}')
        assert answer.status == 200, answer.text
        return answer.json

    def metric(self, name, label=''):
        lines = self.request('GET', '/_/metrics', OWNER).text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.split('{')[0].split(' ')[0] == name and label in line)


def rfc3339(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.%fZ')
