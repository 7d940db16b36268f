"""`hearth functions:call`: every kind of function, called by hand."""

import json
import re

import pytest

from commands import Commands
from hearth import Host, library
from tokens import app_check_claims, unsigned


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('call'), {name: {'library': library(name)} for name in ('Conformance', 'Messages', 'Faults')},
                mode='development').start()
    yield host
    host.stop()


@pytest.fixture
def hearth(host, tmp_path):
    return Commands(host, tmp_path / 'here')


def test_a_result(hearth):
    assert hearth.succeeds('functions:call', 'echo', '{"a": [1, 2.5, null, "x"]}') == '{"a":[1,2.5,null,"x"]}\n'
    assert hearth.result('functions:call', 'echo', '"text"') == 'text'
    assert hearth.succeeds('functions:call', 'echo') == 'null\n'
    assert hearth.succeeds('functions:call', 'echo', '{"a":[1]}', '--pretty') == '{\n  "a": [\n    1\n  ]\n}\n'


@pytest.mark.parametrize('typed,value', [("{a: 'b', c: [1,],}", {'a': 'b', 'c': [1]}), ('-5', -5), ("'it''s'", None), ('{a-b: +.5}', {'a-b': 0.5})])
def test_data_as_people_type_it(hearth, typed, value):
    outcome = hearth.run('functions:call', 'echo', '--', typed)
    if value is None:
        assert 'not JSON (1:' in outcome.sentence
    else:
        assert json.loads(outcome.output) == value


def test_data_from_elsewhere(hearth):
    (hearth.folder / 'data.json').write_text('{"from": "a file"}')
    assert hearth.result('functions:call', 'echo', '@data.json') == {'from': 'a file'}
    for name in ('-', '@-'):
        assert hearth.result('functions:call', 'echo', name, given='[1,2]') == [1, 2]
    (hearth.folder / 'data.json').write_text('{"a":\n  1,,}')
    assert 'data.json is not JSON (2:5' in hearth.run('functions:call', 'echo', '@data.json').sentence
    assert 'cannot be read' in hearth.run('functions:call', 'echo', '@nowhere.json').sentence


def test_an_error_of_the_function(hearth):
    wanted = '{code: "not-found", message: "no such order", details: {order: 7}}'
    assert hearth.run('functions:call', 'throwsError', wanted).sentence == 'throwsError failed: NOT_FOUND: no such order {"order":7}'
    said = hearth.run('functions:call', 'throwsError', wanted, '--json')
    assert said.status == 1
    assert said.json['status'] == 'error'
    assert said.json['details'] == {'code': 'NOT_FOUND', 'message': 'no such order', 'details': {'order': 7}}
    assert hearth.run('functions:call', 'throwsPlain').sentence == \
        'throwsPlain failed: INTERNAL; the reason is in the log: hearth functions:log --only throwsPlain'


def test_who_calls(hearth):
    assert 'UNAUTHENTICATED' in hearth.run('functions:call', 'addMessage', '{text: "hi"}', '--id-token', 'nonsense').sentence
    assert 'FAILED_PRECONDITION' in hearth.run('functions:call', 'addMessage', '{text: "hi"}').sentence
    assert hearth.result('functions:call', 'addMessage', '{text: "hi"}', '--as', 'ada', '--claims', '{name: "Ada"}') == {'text': 'hi'}
    author = list(hearth.result('database:get', '/messages', '--limit-to-last', '1', '--order-by-key').values())[0]['author']
    assert author == {'uid': 'ada', 'name': 'Ada'}


def test_which_app_calls(hearth):
    assert hearth.result('functions:call', 'contextInfo', '--app-check', unsigned(app_check_claims('an-app')))['appId'] == 'an-app'
    assert not hearth.result('functions:call', 'contextInfo', '--app-check', 'nonsense')['hasApp']


def test_nobody_is_an_administrator_by_accident(hearth):
    """The administrator's token is for the host, not for functions."""
    assert not hearth.result('functions:call', 'contextInfo', '--token', 'owner')['hasAuth']
    assert hearth.result('functions:call', 'contextInfo', '--as', '-ada')['uid'] == '-ada'


def test_a_stream(hearth):
    lines = hearth.succeeds('functions:call', 'streamsCountdown', '{from: 3}', '--stream').splitlines()
    assert [json.loads(line) for line in lines] == [{'n': 3}, {'n': 2}, {'n': 1}, 'liftoff']
    messages = [json.loads(line) for line in hearth.succeeds('functions:call', 'streamsCountdown', '{from: 3}', '--stream', '--json').splitlines()]
    assert [message['status'] for message in messages] == ['message'] * (len(messages) - 1) + ['success']
    assert len(messages) == len(lines)


@pytest.mark.parametrize('arguments', [['functions:call'], ['functions:call', 'echo', '1', '2'], ['functions:call', 'echo', '--claims', '{}'],
                                       ['functions:call', 'echo', '--as', 'a', '--id-token', 'b'], ['functions:call', 'web', '--path', 'x'],
                                       ['functions:call', 'web', '--header', 'x']])
def test_wrong_arguments(hearth, arguments):
    assert hearth.run(*arguments).status == 64


def test_an_error_in_a_stream(hearth):
    outcome = hearth.run('functions:call', 'streamsThenThrows', '--stream')
    assert outcome.status == 1
    assert outcome.output
    assert outcome.error.startswith('hearth: streamsThenThrows failed: ')


def test_a_plain_http_function(hearth):
    echo = hearth.succeeds('functions:call', 'httpEcho', '{"a": 1}', '--method', 'put', '--path', '/b?c=d', '--header', 'X-Mine: yes')
    assert 'PUT' in echo
    assert '/b' in echo
    included = hearth.succeeds('functions:call', 'httpEcho', '--path', '/', '--include')
    assert included.startswith('200\n')
    assert 'content-type: ' in included
    assert hearth.result('functions:call', 'httpEcho', '--method', 'GET')['status'] == 200
    head = hearth.succeeds('functions:call', 'httpEcho', '--method', 'HEAD', '--include', seconds=20)
    assert int(re.search(r'^content-length: (\d+)$', head, re.MULTILINE)[1]) > 0, 'it tells how long what it leaves out would be'
    assert head.startswith('200\n') and head.endswith('\n\n')
    failed = hearth.run('functions:call', 'httpThrows', '--method', 'GET')
    assert 'httpThrows answered with status 500' in failed.error
    assert failed.status == 1


def test_a_function_that_events_start(hearth):
    event = ('--params', '{id: "m1"}', '--as', 'ada')
    assert hearth.succeeds('functions:call', 'noteCreated', '{a: 1}', *event) == 'noteCreated succeeded\n'
    noted = [note for note in hearth.result('database:get', '/noted/created').values() if note.get('params') == {'id': 'm1'}]
    assert len(noted) == 1
    assert noted[0]['ref'].strip('/') == 'watched/m1'
    assert 'give either' in hearth.run('functions:call', 'noteWritten', '1', '--after', '2', *event).sentence
    assert 'params must contain id' in hearth.run('functions:call', 'noteCreated', '1').sentence
    assert '--before' in hearth.run('functions:call', 'noteUpdated', '1', *event).sentence
    assert hearth.run('functions:call', 'failTyped', '1', '--params', '{id: "x"}').sentence.startswith('failTyped failed: ')
    assert '--before, --after and --params' in hearth.run('functions:call', 'echo', '1', '--params', '{}').sentence


def test_a_function_that_is_not_there(hearth):
    assert 'no function ecko' in (said := hearth.run('functions:call', 'ecko').sentence)
    assert 'functions:list' in said or 'did you mean echo?' in said


def test_a_host_that_is_not_there(hearth):
    outcome = hearth.run('functions:call', 'echo', '--url', 'http://127.0.0.1:1')
    assert 'hearth serve' in outcome.sentence
