"""Deploying, looking at what runs, rolling back, splitting, deleting."""

import json
import subprocess

import pytest

from deploys import Deploys, Refused, plugin
from hearth import ROOT, library


@pytest.fixture
def host(launch):
    return launch({})


@pytest.fixture
def deploys(host):
    return Deploys(host)


def test_a_function_is_deployed_and_called(host, deploys):
    assert deploys.functions == {}
    outcome = deploys.deploy({'Things': plugin(1, 'one', 'two')})
    assert deploys.actions(outcome) == {'one': 'create', 'two': 'create'}
    assert (outcome['deployment'], outcome['revision']) == (1, 1)
    assert {change['reason'] for change in outcome['changes']} == {'new function'}
    assert host.result('one')['version'] == 1
    function = deploys.function('one')
    assert function['url'] == f'http://127.0.0.1:{host.port}{host.path("one")}'
    expected = {'name': 'one', 'trigger': 'callable', 'plugin': 'Things', 'version': 1, 'traffic': {'1': 100}, 'origin': 'deploy',
                'region': 'us-central1', 'memoryMb': 256, 'timeoutSeconds': 60, 'minInstances': 0, 'instances': 1}
    assert {key: function[key] for key in expected} == expected


def test_the_second_version_of_one_function_leaves_the_other_alone(host, deploys):
    deploys.deploy({'Things': plugin(1, 'one', 'two')})
    before = host.result('two')['pid']
    outcome = deploys.deploy({'Things': plugin(2, 'one', 'two')}, only=['functions:one'])
    assert outcome['changes'] == [
        {'function': 'one', 'plugin': 'Things', 'action': 'update', 'reason': 'library changed', 'fromVersion': 1, 'toVersion': 2}]
    assert host.result('one')['version'] == 2
    assert (host.result('two')['version'], host.result('two')['pid']) == (1, before)
    said = json.loads(host.until_logged('deployed: updated one to version 2'))
    assert (said['function'], said['version'], said['plugin'], said['reason']) == ('one', 2, 'Things', 'library changed')


def test_what_is_the_same_is_not_deployed_again(deploys):
    deploys.deploy({'Things': plugin(1, 'one')})
    outcome = deploys.deploy({'Things': plugin(1, 'one')})
    assert deploys.actions(outcome) == {'one': 'unchanged'}
    assert (outcome.get('deployment'), outcome['revision']) == (None, 1)
    forced = deploys.deploy({'Things': plugin(1, 'one')}, force=True)
    assert (deploys.actions(forced), forced['changes'][0]['reason'], forced['revision']) == ({'one': 'update'}, 'forced', 2)


def test_options_and_environment_make_a_version_and_say_why(host, deploys):
    deploys.deploy({'Things': plugin(1, 'one')}, environment={'SETTING': 'a'})
    assert host.result('one')['setting'] == 'a'
    outcome = deploys.deploy({'Things': plugin(1, 'one')}, environment={'SETTING': 'b'}, functions={'one': {'timeoutSeconds': 30}})
    assert outcome['changes'][0]['reason'] == 'options changed: timeoutSeconds 60 -> 30; environment changed: SETTING'
    assert (host.result('one')['setting'], deploys.function('one')['timeoutSeconds']) == ('b', 30)
    deploys.roll_back('one')
    assert (host.result('one')['setting'], deploys.function('one')['timeoutSeconds']) == ('a', 60)


def test_the_host_has_the_last_word(launch):
    """Over the code lies what the deployer says, and over that what the host's own functions.json says."""
    host = launch({}, config={'functions': {'one': {'timeoutSeconds': 20}}, 'defaults': {'maxInstances': 3}})
    deploys = Deploys(host)
    deploys.deploy({'Things': plugin(1, 'one', 'two')}, functions={'one': {'timeoutSeconds': 30, 'memory': '512MiB'}},
                   defaults={'maxInstances': 9, 'timeoutSeconds': 40})
    one, two = deploys.function('one'), deploys.function('two')
    assert (one['timeoutSeconds'], one['memoryMb'], one['maxInstances']) == (20, 512, 3)
    assert (two['timeoutSeconds'], two['memoryMb'], two['maxInstances']) == (40, 256, 3)
    host.write_config({}, {'functions': {'one': {'timeoutSeconds': 10}}, 'defaults': {'maxInstances': 3}})
    host.stop()
    host.start()
    assert (deploys.function('one')['timeoutSeconds'], deploys.function('one')['version']) == (10, 2)
    assert deploys.history[0]['changes'][0]['reason'] == 'options changed: timeoutSeconds 20 -> 10'
    assert deploys.function('two')['version'] == 1
    deploys.roll_back('one')
    host.stop()
    host.start()
    assert (deploys.function('one')['timeoutSeconds'], deploys.function('one')['version']) == (20, 1), 'a rollback is not undone by a start'


def test_secrets_are_those_of_the_host(launch, tmp_path):
    library = plugin(1, one={'callableTrigger': {}, 'secretEnvironmentVariables': [{'key': 'SECRET'}]})
    host = launch({})
    deploys = Deploys(host)
    with pytest.raises(Refused) as caught:
        deploys.deploy({'Things': library})
    assert 'needs the secret SECRET' in caught.value.sentence
    (host.folder / '.secret.local').write_text('SECRET=first\n')
    deploys.deploy({'Things': library})
    assert host.result('one')['secret'] == 'first'
    assert b'first' not in (host.data / 'deployed.json').read_bytes()
    (host.folder / '.secret.local').write_text('SECRET=second\n')
    host.stop()
    host.start()
    assert (host.result('one')['secret'], deploys.function('one')['version']) == ('second', 1)


def test_functions_by_name_group_and_plugin(deploys):
    names = ('app', 'app-one', 'app-two', 'other')
    deploys.deploy({'Things': plugin(1, *names)})
    version = iter(range(2, 20))

    def changed(**options):
        outcome = deploys.deploy({'Things': plugin(next(version), *names)}, **options)
        return {change['function'] for change in outcome['changes'] if change['action'] == 'update'}
    assert changed(names=['app']) == {'app'}
    assert changed(only=['functions:app']) == {'app', 'app-one', 'app-two'}
    assert changed(only=['functions:app.one', 'other']) == {'app-one', 'other'}
    assert changed(only=['functions:Things:other']) == {'other'}
    assert changed(only=['functions:Things']) == changed(only=['functions']) == set(names)


def test_a_plan_changes_nothing(host, deploys):
    outcome = deploys.plan({'Things': plugin(1, 'one')})
    assert (deploys.actions(outcome), 'deployment' in outcome) == ({'one': 'create'}, False)
    assert (deploys.functions, deploys.revision) == ({}, 0)
    assert host.callable('one').status == 404


def test_functions_that_are_gone_stay_until_somebody_says_so(host, deploys):
    deploys.deploy({'Things': plugin(1, 'one', 'two')})
    outcome = deploys.deploy({'Things': plugin(2, 'one')})
    assert deploys.actions(outcome) == {'one': 'update', 'two': 'keep'}
    assert host.result('two')['version'] == 1
    outcome = deploys.deploy({'Things': plugin(2, 'one')}, removes=True)
    assert deploys.actions(outcome) == {'one': 'unchanged', 'two': 'delete'}
    assert host.callable('two').status == 404


def test_rollback_goes_back_and_forth(host, deploys):
    for version in (1, 2, 3):
        deploys.deploy({'Things': plugin(version, 'one')})
    outcome = deploys.roll_back('one')
    assert (outcome['from'], outcome['to'], outcome['revision']) == (3, 2, 4)
    assert host.result('one')['version'] == 2
    deploys.roll_back('one')
    assert host.result('one')['version'] == 3
    deploys.roll_back('one', to=1)
    assert host.result('one')['version'] == 1
    assert [(version['version'], version['traffic']) for version in deploys.versions('one')] == [(3, 0), (2, 0), (1, 100)]
    assert [entry['origin'] for entry in deploys.history] == ['rollback', 'rollback', 'rollback', 'deploy', 'deploy', 'deploy']


@pytest.mark.parametrize('act, status, sentence', [
    (lambda deploys: deploys.roll_back('one'), 'INVALID_ARGUMENT', 'one has had no other version before; its versions: 1'),
    (lambda deploys: deploys.roll_back('one', to=7), 'NOT_FOUND', 'no version 7; its versions: 1'),
    (lambda deploys: deploys.roll_back('one', to=1), 'INVALID_ARGUMENT', 'gets all calls already'),
    (lambda deploys: deploys.roll_back('other'), 'NOT_FOUND', 'no function other'),
    (lambda deploys: deploys.split('one', v1=90), 'INVALID_ARGUMENT', 'add up to 100'),
    (lambda deploys: deploys.split('one', v1=50, v2=50), 'NOT_FOUND', 'no version 2'),
    (lambda deploys: deploys.delete('other'), 'NOT_FOUND', 'no function other'),
    (lambda deploys: deploys.function('other'), 'NOT_FOUND', 'no function other'),
    (lambda deploys: deploys.versions('other'), 'NOT_FOUND', 'no function other'),
])
def test_what_cannot_be_done(act, status, sentence, deploys):
    deploys.deploy({'Things': plugin(1, 'one')})
    with pytest.raises(Refused) as refused:
        act(deploys)
    assert refused.value.status == status
    assert sentence in refused.value.sentence
    assert deploys.revision == 1


def test_split_and_back(host, deploys):
    deploys.deploy({'Things': plugin(1, 'one')})
    deploys.deploy({'Things': plugin(2, 'one')})
    outcome = deploys.split('one', v1=50, v2=50)
    assert outcome['traffic'] == {'1': 50, '2': 50}
    assert {host.result('one')['version'] for _ in range(60)} == {1, 2}
    assert deploys.roll_back('one')['to'] == 2
    assert {host.result('one')['version'] for _ in range(20)} == {2}


def test_deleted(host, deploys):
    deploys.deploy({'Things': plugin(1, 'one', 'two')})
    deploys.delete('one')
    assert host.callable('one').status == 404
    assert host.result('two')['version'] == 1
    assert list(deploys.functions) == ['two']
    again = deploys.deploy({'Things': plugin(1, 'one', 'two')})
    assert [change['toVersion'] for change in again['changes'] if change['function'] == 'one'] == [2], 'numbers are never used again'


def test_everything_is_there_after_a_restart(host, deploys):
    deploys.deploy({'Things': plugin(1, 'one', 'two')}, environment={'SETTING': 'a'})
    deploys.deploy({'Things': plugin(2, 'one', 'two')}, only=['functions:one'], environment={'SETTING': 'b'})
    before = deploys.functions, deploys.history, deploys.versions('one')
    host.stop()
    host.start()
    after = deploys.functions, deploys.history, deploys.versions('one')

    def timeless(all_of_it):
        functions, history, versions = all_of_it
        return [{key: value for key, value in function.items() if key != 'instances'} for function in functions.values()], history, versions
    assert timeless(after) == timeless(before)
    assert (host.result('one')['version'], host.result('one')['setting']) == (2, 'b')
    assert (host.result('two')['version'], host.result('two')['setting']) == (1, 'a')


def test_plugins_of_the_file_are_deployed_at_start_and_stay_when_others_came_from_afar(launch):
    host = launch({'Things': {'library': plugin(1, 'one', 'two')}})
    deploys = Deploys(host)
    assert [entry['origin'] for entry in deploys.history] == ['local']
    deploys.deploy({'Things': plugin(2, 'one', 'two')}, only=['functions:one'])
    host.stop()
    host.start()
    assert (host.result('one')['version'], host.result('two')['version']) == (2, 1)
    assert deploys.revision == 2
    host.config['plugins'] = {'Things': {'library': plugin(3, 'one', 'three')}}
    host.write_config(host.config['plugins'], {})
    host.stop()
    host.start()
    assert (host.result('one')['version'], host.result('three')['version']) == (3, 3)
    assert host.callable('two').status == 404
    assert {change['function']: change['action'] for change in deploys.history[0]['changes']} == \
        {'one': 'update', 'two': 'delete', 'three': 'create'}


def test_a_revision_that_has_passed_is_a_conflict(deploys):
    deploys.deploy({'Things': plugin(1, 'one')}, expectedRevision=0)
    with pytest.raises(Refused) as refused:
        deploys.deploy({'Things': plugin(2, 'one')}, expectedRevision=0)
    assert (refused.value.http, refused.value.status) == (409, 'ABORTED')
    assert deploys.functions['one']['version'] == 1


def test_the_administration_is_for_administrators(host):
    for method, path in (('GET', 'functions'), ('POST', 'deployments'), ('PUT', 'artifacts/' + '0' * 64)):
        assert host.request(method, f'/_/api/{path}', {}, b'x').status == 401


def test_a_plugin_of_swift(host, deploys):
    deploys.deploy({'Arithmetic': library('Arithmetic')})
    assert host.result('addNumbers', {'firstNumber': 1, 'secondNumber': 2})['operationResult'] == 3


MANY = 8000


@pytest.mark.timeout(120)
def test_a_library_with_many_functions(launch, tmp_path):
    """The time that a deployment and a start take grows with the number of functions, not faster: it would last for many minutes."""
    endpoints = {f'f{number}': {'callableTrigger': {}} for number in range(MANY)}
    manifest = json.dumps({'specVersion': 'v1alpha1', 'endpoints': endpoints})
    source = (ROOT / 'Tests/Plugins/C/deployable.c').read_text()
    (tmp_path / 'many.c').write_text(f'#define VERSION 1\n#define MANIFEST {json.dumps(manifest)}\n{source}')
    built = tmp_path / 'libMany.so'
    folders = ['-I', ROOT / 'SDK/Sources/CHearth/include', '-I', ROOT / 'Tests/Plugins/C']
    subprocess.run(['gcc', '-shared', '-fPIC', *folders, tmp_path / 'many.c', '-o', built], check=True)
    host = launch({})
    Deploys(host).deploy({'Many': built})
    assert host.result(f'f{MANY - 1}')['version'] == 1
    host.stop()
    host.start()
    assert host.result('f0')['version'] == 1
