"""Defective plugins: each is refused in one sentence, and the others serve."""

import json
import re

import pytest

from deploys import Deploys
from hearth import library
from processes import mapped_files, until
from tokens import id_claims, unsigned


def refusal(launch, path, reason, **options):
    """Starts a host with a valid plugin and an invalid one, and checks the report on the invalid one."""
    host = launch({'good': {'library': library('Conformance')}, 'bad': {'library': str(path)}}, **options)
    assert host.result('echo', 1) == 1
    name = str(path).rpartition('/')[2]

    def sentences():
        logged = [json.loads(line) for line in host.log.splitlines() if line.startswith('{') and line.endswith('}')]
        return [entry['message'] for entry in logged if entry['severity'] == 'error' and name in entry['message']]

    said = until(sentences, f'the log names {name}')
    assert len(said) == 1, said
    assert re.search(reason, said[0]), said[0]
    assert '\n' not in said[0]
    assert said[0] in host.banner, 'the banner lists what is left out'
    return host


REFUSED = {
    'wrong_version': 'ABI 2, this host speaks 1', 'missing_entry': 'hearth_plugin_entry', 'null_entry': 'NULL', 'no_invoke': 'invoke',
    'empty_manifest': '(?i)manifest', 'invalid_manifest': '.', 'duplicate_names': 'twin', 'two_triggers': '(?i)trigger',
    'unknown_option': 'timeoutMinutes', 'entry_crashes': '.',
}


@pytest.mark.parametrize('name', REFUSED)
def test_refused(name, launch):
    refusal(launch, library(name), REFUSED[name])


def test_reason_that_a_plugin_gives_is_in_the_log(launch):
    refusal(launch, library('null_entry'), 'NULL').until_logged('needs a Tuesday')


IDLE_OPTIONS = ['endpoints.idle.vpc: vpc does nothing on this host',
                'endpoints.page.enforceAppCheck: enforceAppCheck does nothing for plain HTTP functions']


@pytest.mark.parametrize('is_deployed', [False, True], ids=['at its start', 'deployed'])
def test_options_that_do_nothing_are_named_once(is_deployed, launch):
    """The log names function and option when the plugin is loaded, not with each of its workers."""
    host = launch({} if is_deployed else {'Idle': {'library': library('idle_options')}})
    if is_deployed:
        Deploys(host).deploy({'Idle': library('idle_options')})
    assert host.result('idle') == 1
    for sentence in IDLE_OPTIONS:
        host.until_logged(sentence)
        assert host.log.count(sentence) == 1


@pytest.mark.timeout(120)
def test_plugin_that_hangs_while_it_loads(launch):
    """The host does not wait for it for ever, and not long where others can be served."""
    refusal(launch, library('entry_hangs'), '.', config={'workers': {'blockedLoopSeconds': 1}})


@pytest.mark.parametrize('content, name', [(b'hello\n', 'text'), (b'', 'empty'), (b'\x7fELF' + b'\0' * 100, 'torn')])
def test_file_that_is_no_library(content, name, launch, tmp_path):
    path = tmp_path / f'lib{name}.so'
    path.write_bytes(content)
    refusal(launch, path, f'lib{name}.so')


@pytest.mark.parametrize('make, found', [(lambda path: None, 'nothing'), (lambda path: path.mkdir(), 'folder')], ids=['nothing', 'folder'])
def test_path_that_leads_to_no_file(make, found, prepare, tmp_path):
    """The host reports the mistake in functions.json before it serves anything."""
    make(tmp_path / 'libnowhere.so')
    host = prepare({'bad': {'library': str(tmp_path / 'libnowhere.so')}})
    host.spawn()
    assert host.process.wait(30) == 1
    host.process = None
    assert re.search(rf'functions\.json:6:\d+: plugins\.bad\.library: .*{found}.*libnowhere\.so', host.log), host.log


def test_the_same_function_in_two_plugins(launch, tmp_path):
    copy = tmp_path / 'libCopy.so'
    with open(library('Conformance'), 'rb') as source:
        copy.write_bytes(source.read())
    host = launch({'first': {'library': library('Conformance')}, 'second': {'library': str(copy)}})
    assert host.result('echo', 1) == 1
    host.until_logged(r'(?i)echo.*(first|second)|(first|second).*echo')


def test_two_versions_side_by_side(launch):
    """Both plugins have the same symbols and separate state."""
    host = launch({'one': {'library': library('versioned', VERSION=1)},
                   'two': {'library': library('versioned', VERSION=2)}})
    for _ in range(3):
        assert host.result('version1') == 1
        assert host.result('version2') == 2


def test_two_versions_in_the_hosts_own_process(launch):
    host = launch({'one': {'library': library('versioned', VERSION=1), 'isolation': 'none'},
                   'two': {'library': library('versioned', VERSION=2), 'isolation': 'none'}})
    assert (host.result('version1'), host.result('version2')) == (1, 2)


def test_several_swift_plugins(launch):
    host = launch(['Faults', 'Arithmetic', 'Messages', 'Counter'])
    assert host.result('addNumbers', {'firstNumber': 1, 'secondNumber': 2})['operationResult'] == 3
    assert host.callable('increment', {}).status == 200


class TestExamples:
    @pytest.fixture
    def host(self, launch):
        return launch(['Arithmetic', 'Messages', 'Counter'], mode='development')

    def test_arithmetic(self, host):
        assert host.result('addNumbers', {'firstNumber': 3, 'secondNumber': 4}) == \
            {'firstNumber': 3, 'secondNumber': 4, 'operator': '+', 'operationResult': 7}
        answer = host.callable('divideNumbers', {'firstNumber': 3, 'secondNumber': 0})
        assert (answer.status, answer.json['error']['status']) == (400, 'INVALID_ARGUMENT')

    @pytest.mark.parametrize('data', [None, 1, 'x', [], {}, {'firstNumber': '3', 'secondNumber': 4}, {'firstNumber': 3}])
    def test_arithmetic_with_other_data(self, data, host):
        answer = host.callable('addNumbers', data)
        assert (answer.status, answer.json['error']['status']) == (400, 'INVALID_ARGUMENT')

    def test_messages(self, host):
        answer = host.callable('addMessage', {'text': 'hi'})
        assert (answer.status, answer.json['error']['status']) == (400, 'FAILED_PRECONDITION')
        for data in ({'text': ''}, {'text': 7}, {}, None):
            answer = host.callable('addMessage', data, token=unsigned(id_claims()))
            assert (answer.status, answer.json['error']['status']) == (400, 'INVALID_ARGUMENT')
        answer = host.callable('addMessage', {'text': 'hi, damn it'}, token=unsigned(id_claims()))
        assert (answer.status, answer.json) == (200, {'result': {'text': 'hi, **** it'}})
        stored = host.request('GET', '/messages.json', {'Authorization': 'Bearer owner'}).json
        assert [message['text'] for message in stored.values()] == ['hi, **** it']

    def test_counter(self, host):
        first = host.callable('increment', {})
        second = host.callable('increment', {})
        assert (first.status, second.status) == (200, 200)
        assert first.json != second.json

    def test_swift_plugins_do_not_load_foundation(self, host):
        host.result('addNumbers', {'firstNumber': 1, 'secondNumber': 2})
        for process in host.loaded_workers():
            assert not [path for path in mapped_files(process.pid) if 'Foundation' in path]
