"""The stored log of a running host."""

import json

from databases import OWNER
from processes import until


def asked(host, query='', status=200):
    answer = host.request('GET', f'/_/api/logs?{query}', OWNER.items())
    assert answer.status == status, answer.body
    return answer


def lines(host, query=''):
    answer = asked(host, query)
    assert answer.header('content-type') == 'application/x-ndjson; charset=utf-8'
    return [json.loads(line) for line in answer.body.decode().splitlines()]


def messages(host, query=''):
    return [line['message'] for line in lines(host, query)]


def says(host, text, count=4):
    """Makes a function log in four ways, and waits until the lines are stored."""
    host.result('says', {'text': text})
    return until(lambda: len(found := [line for line in lines(host, 'limit=10000') if line['message'] == text]) >= count and found,
                 f'{count} lines of {text}')
