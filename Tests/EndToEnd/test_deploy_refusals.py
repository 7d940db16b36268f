"""Libraries and requests that are refused: one sentence names the file and the cause, and nothing has changed."""

import json
import pathlib
import re

import pytest

from deploys import Deploys, Refused, on_write, plugin, sha256
from disks import SmallDisk
from hearth import library
from processes import until


@pytest.fixture
def host(launch):
    host = launch({}, config={'workers': {'blockedLoopSeconds': 1}})
    Deploys(host).deploy({'Things': plugin(1, 'one')})
    return host


@pytest.fixture
def deploys(host):
    return Deploys(host)


def refused(deploys, plugins, **options):
    """Deploys what is refused; returns the sentences."""
    host = deploys.host
    assert host.result('one')['version'] == 1
    before = deploys.functions, deploys.history, (host.data / 'deployed.json').read_bytes(), sorted((host.data / 'artifacts').iterdir())
    with pytest.raises(Refused) as caught:
        deploys.deploy(plugins, **options)
    refusal = caught.value
    assert refusal.http == 400
    assert refusal.sentence == '\n'.join(refusal.details['refusals'])
    assert host.result('one')['version'] == 1
    assert (deploys.functions, deploys.history, (host.data / 'deployed.json').read_bytes()) == before[:3]
    good = {'Extra': plugin(9, 'extra')}
    deploys.deploy(good)
    deploys.delete('extra')
    until(lambda: sorted((host.data / 'artifacts').iterdir()) == before[3], 'what was refused is removed')
    return refusal.details['refusals']


def edited(tmp_path, edit, name='libEdited.so'):
    """A good library with some bytes changed."""
    content = bytearray(pathlib.Path(plugin(2, 'one')).read_bytes())
    path = tmp_path / name
    path.write_bytes(edit(content) or content)
    return str(path)


def number(offset, size, value):
    def edit(content):
        content[offset:offset + size] = value.to_bytes(size, 'little')
    return edit


@pytest.mark.parametrize('edit, cause', [
    (lambda content: content[:len(content) // 2], 'truncated'),
    (lambda content: content[:-1], 'truncated'),
    (lambda content: content[:40], 'truncated'),
    (lambda content: b'#!/bin/sh\necho hello\n', 'not an ELF file'),
    (number(4, 1, 1), 'another word size or byte order'),
    (number(5, 1, 2), 'another word size or byte order'),
    (number(18, 2, 183), 'is for aarch64, this host runs on x86_64'),
    (number(18, 2, 40), 'is for arm, this host'),
    (number(16, 2, 1), 'not a shared object'),
    (number(32, 8, 1 << 62), '(truncated|damaged)'),
    (number(56, 2, 60000), '(truncated|damaged)'),
], ids=['half', 'one byte less', 'a part of the header', 'a script', 'of 32 bits', 'big endian', 'aarch64', 'arm', 'an object file',
        'segments far away', 'many segments'])
def test_a_file_that_cannot_be_loaded_here(edit, cause, deploys, tmp_path):
    sentences = refused(deploys, {'Things': edited(tmp_path, edit)})
    assert len(sentences) == 1
    assert sentences[0].startswith('libEdited.so: ')
    assert re.search(cause, sentences[0]), sentences[0]


@pytest.mark.parametrize('name, cause', [
    ('wrong_version', 'ABI 2, this host speaks 1'), ('missing_entry', 'hearth_plugin_entry'), ('null_entry', 'NULL'), ('entry_crashes', 'signal'),
    ('empty_manifest', 'manifest'), ('invalid_manifest', ''), ('duplicate_names', 'twin'), ('unknown_option', 'timeoutMinutes'),
    ('entry_hangs', 'did not load within 10 s'),
])
def test_a_library_that_is_no_plugin(name, cause, deploys):
    sentences = refused(deploys, {'Things': library(name)})
    assert len(sentences) == 1
    assert cause in sentences[0]
    assert f'lib{name}.so' in sentences[0]


@pytest.mark.parametrize('endpoint, cause', [
    (on_write('a/{id'), 'braces must hold a whole segment'), (on_write('a/{x}/{x}'), 'the name "x" stands twice in the pattern'),
    (on_write('a/$b'), '"$b" matches no key'), ({'eventTrigger': {**on_write('a')['eventTrigger'], 'eventFilterPathPatterns': {}}}, 'has no "ref"'),
])
def test_a_trigger_that_nothing_can_start(endpoint, cause, deploys):
    sentences = refused(deploys, {'Things': plugin(2, 'one', two=endpoint)})
    assert len(sentences) == 1
    assert sentences[0].startswith('libdeployable.so: endpoints.two.eventTrigger: ')
    assert cause in sentences[0]


def test_a_trigger_of_functions_json_that_nothing_can_start(launch):
    host = launch({'Bad': {'library': plugin(1, 'two', three=on_write('a/{id'))}, 'Good': {'library': plugin(1, 'one')}})
    assert host.result('one')['version'] == 1
    assert host.callable('two').status == 404
    assert host.log.count('endpoints.three.eventTrigger: braces must hold a whole segment') == 2, 'in the log and on the banner'


def test_events_of_another_service_are_told_once(host, deploys):
    """The function is deployed and never runs. The reason is logged when it is first deployed, not again with later deployments."""
    news = {'eventTrigger': {'eventType': 'google.cloud.pubsub.topic.v1.messagePublished', 'eventFilters': {'topic': 'news'}}}

    def told():
        return host.log.count('news: this host has no events of type')
    deploys.deploy({'Others': plugin(1, 'two', news=news)})
    until(lambda: told() == 1, 'it is told')
    for version in (2, 3):
        deploys.deploy({'Others': plugin(version, 'two', news=news)})
        deploys.deploy({'Things': plugin(version, 'one')})
    assert told() == 1
    deploys.delete('news')
    deploys.deploy({'Others': plugin(4, 'two', news=news)})
    until(lambda: told() == 2, 'it is new again')


def test_good_ones_beside_a_bad_one_are_not_deployed(host, deploys):
    sentences = refused(deploys, {'Things': plugin(2, 'one'), 'Bad': library('wrong_version'), 'Worse': library('missing_entry')})
    assert [sentence.split(':')[0] for sentence in sentences] == ['libmissing_entry.so', 'libwrong_version.so']


def test_names_that_are_taken(host, deploys):
    sentences = refused(deploys, {'Others': plugin(2, 'two', 'one')})
    assert sentences == ['libdeployable.so: its function one already belongs to the plugin Things; rename it']
    sentences = refused(deploys, {'First': plugin(2, 'same'), 'Second': plugin(3, 'same')})
    assert sentences == ['libdeployable.so: its function same is in libdeployable.so too; rename one of them']


def test_a_function_moves_from_one_plugin_to_another(host, deploys):
    deploys.deploy({'Things': plugin(2, 'two'), 'Others': plugin(2, 'one')}, removes=True)
    assert (host.result('one')['version'], deploys.function('one')['plugin']) == (2, 'Others')


@pytest.mark.parametrize('options, cause', [
    ({'functions': {'one': {'timeoutSeconds': -1}}}, 'functions.one.timeoutSeconds'),
    ({'functions': {'one': {'timeout': 1}}}, 'functions.one.timeout'),
    ({'functions': {'one': {'secrets': ['MISSING']}}}, 'MISSING'),
    ({'environment': {'GCLOUD_PROJECT': 'x'}}, 'GCLOUD_PROJECT is reserved'),
    ({'environment': {'lower': 'x'}}, 'lower'),
    ({'only': ['functions:other']}, 'no function matches functions:other; there are one'),
    ({'names': ['on']}, 'no function matches on; there are one'),
    ({'defaults': {'timeoutSeconds': 'x'}}, 'defaults.timeoutSeconds'),
])
def test_options_that_cannot_be(options, cause, deploys):
    sentences = refused(deploys, {'Things': plugin(2, 'one')}, **options)
    assert len(sentences) == 1
    assert cause in sentences[0]


def test_a_worker_that_does_not_come_up_with_its_environment(host, deploys):
    """It describes itself, and fails with what its workers are given."""
    bad = library('deployable', VERSION=2, MANIFEST=plugin_manifest('one'), AT_ENTRY='if (getenv("SETTING")) abort()')
    sentences = refused(deploys, {'Things': bad}, environment={'SETTING': 'a'})
    assert len(sentences) == 1
    assert 'does not start: it crashed: abort() was called' in sentences[0]


def plugin_manifest(name):
    manifest = {'specVersion': 'v1alpha1', 'endpoints': {name: {'entryPoint': name, 'platform': 'gcfv2', 'callableTrigger': {}}}}
    return json.dumps(json.dumps(manifest))


@pytest.mark.parametrize('body, cause', [
    ([], 'the body must be an object'), ({}, 'plugins must be an object'), ({'plugins': {'../x': {}}}, "a plugin's name"),
    ({'plugins': {'Things': {'artifact': 'abc'}}}, 'plugins.Things.artifact must be the SHA-256'),
    ({'plugins': {'Things': {'artifact': '0' * 64, 'environment': {'A': 1}}}}, 'environment.A must be a string'),
    ({'plugins': {}, 'names': 1}, 'names must be a list'), ({'plugins': {}, 'only': 'functions:a'}, 'only must be a list'),
    ({'plugins': {}, 'force': 1}, 'force must be true or false'),
    ({'plugins': {}, 'expectedRevision': 'x'}, 'expectedRevision must be a whole number'),
    ({'plugins': {'Things': {'artifact': '0' * 64, 'file': 'libA.so'}}}, 'libA.so: its library ' + '0' * 64 + ' was not uploaded'),
])
def test_requests_that_cannot_be(body, cause, deploys):
    with pytest.raises(Refused) as caught:
        deploys.ask('POST', 'deployments', body)
    assert caught.value.http == 400
    assert cause in caught.value.sentence
    assert caught.value.details is None or caught.value.details.get('absent') == (['0' * 64] if 'uploaded' in cause else None)


class TestUploads:
    def test_piece_by_piece_and_after_a_break(self, host, deploys):
        path = pathlib.Path(plugin(2, 'one'))
        content, name = path.read_bytes(), sha256(path)
        assert deploys.ask('GET', f'artifacts/{name}') == {'state': 'absent', 'receivedBytes': 0}
        assert deploys.ask('PUT', f'artifacts/{name}?offset=0', raw=content[:1000]) == {'state': 'partial', 'receivedBytes': 1000}
        with pytest.raises(Refused) as caught:
            deploys.ask('PUT', f'artifacts/{name}?offset=0', raw=content[:1000])
        assert (caught.value.http, caught.value.status, caught.value.details) == (409, 'ABORTED', {'receivedBytes': 1000})
        host.stop()
        host.start()
        assert deploys.upload(path, piece=4096) == name
        assert deploys.ask('GET', f'artifacts/{name}') == {'state': 'complete', 'receivedBytes': len(content)}
        assert deploys.actions(deploys.deploy({'Things': str(path)})) == {'one': 'update'}
        until(lambda: not list((host.data / 'uploads').iterdir()), 'what was deployed is no upload any more')

    def test_what_has_another_hash_is_dropped(self, host, deploys):
        name = 'ab' * 32
        deploys.ask('PUT', f'artifacts/{name}?offset=0', raw=b'x' * 100)
        with pytest.raises(Refused) as caught:
            deploys.ask('POST', f'artifacts/{name}:complete', {'sizeBytes': 99})
        assert caught.value.http == 409
        with pytest.raises(Refused) as caught:
            deploys.ask('POST', f'artifacts/{name}:complete', {'sizeBytes': 100})
        assert (caught.value.http, 'has the SHA-256' in caught.value.sentence) == (400, True)
        assert deploys.ask('GET', f'artifacts/{name}')['state'] == 'absent'
        assert list((host.data / 'uploads').iterdir()) == []

    @pytest.mark.parametrize('path, raw', [('artifacts/abc', b'x'), ('artifacts/' + 'A' * 64, b'x'), ('artifacts/' + '0' * 64, b''),
                                           ('artifacts/' + '0' * 64, bytes((8 << 20) + 1)), ('artifacts/' + '0' * 64 + '?offset=-1', b'x'),
                                           ('artifacts/' + '0' * 64 + '?offset=x', b'x'), ('artifacts/..%2f..%2fx', b'x')])
    def test_what_cannot_be(self, path, raw, deploys):
        with pytest.raises(Refused) as caught:
            deploys.ask('PUT', path, raw=raw)
        assert caught.value.http == 400


def test_a_full_disk(prepare, tmp_path):
    """The disk is full at each step of a deployment in turn: the running functions continue, and the deployment succeeds once there is space."""
    host = prepare({})
    with SmallDisk(host.data, mebibytes=8) as disk:
        host.start()
        deploys = Deploys(host)
        deploys.deploy({'Things': plugin(1, 'one')})
        name = deploys.upload(plugin(2, 'one'))
        disk.fill()
        with pytest.raises(Refused) as caught:
            deploys.upload(plugin(3, 'one'))
        assert (caught.value.http, 'the disk is full' in caught.value.sentence) == (503, True)
        request = {'plugins': {'Things': {'artifact': name, 'file': 'libThings.so'}}}
        with pytest.raises(Refused) as caught:
            deploys.ask('POST', 'deployments', request)
        assert (caught.value.http, 'the disk is full' in caught.value.sentence) == (503, True), caught.value.sentence
        assert 'nothing was changed' in caught.value.sentence
        assert (host.result('one')['version'], deploys.revision) == (1, 1)
        disk.make_room()
        assert deploys.actions(deploys.ask('POST', 'deployments', request)) == {'one': 'update'}
        assert host.result('one')['version'] == 2
        deploys.deploy({'Things': plugin(3, 'one')})
        host.stop()


@pytest.mark.parametrize('content, cause', [
    (b'{', 'cannot be understood'), (b'{"format":"other","formatVersion":1}', 'not a record of deployments'),
    (b'{"format":"hearth.deployed","formatVersion":2,"state":{}}', 'format version 2, this host understands 1'),
    (b'{"format":"hearth.deployed","formatVersion":1,"state":{"revision":"x"}}', 'revision'),
])
def test_a_record_that_the_host_does_not_understand(content, cause, prepare):
    host = prepare({})
    host.data.mkdir(mode=0o700)
    (host.data / 'deployed.json').write_bytes(content)
    host.spawn()
    assert host.process.wait(20) == 1
    host.process = None
    lines = host.log.strip().splitlines()
    assert len(lines) == 1, lines
    assert str(host.data / 'deployed.json') in lines[0]
    assert cause in lines[0]
    assert (host.data / 'deployed.json').read_bytes() == content


def test_versions_with_other_triggers_are_not_split(deploys):
    deploys.deploy({'Things': plugin(2, one=on_write('a/{id}'))})
    with pytest.raises(Refused) as caught:
        deploys.split('one', v1=50, v2=50)
    assert caught.value.sentence == 'versions 1 and 2 of one have different triggers, so that calls cannot be split'


def test_a_library_that_is_gone_from_the_store(host, deploys):
    """Its function is not served, the host says why, and the others are."""
    deploys.deploy({'Others': plugin(1, 'two')})
    artifact = deploys.function('one')['artifact']
    host.stop()
    (host.data / 'artifacts' / f'{artifact}.so').unlink()
    host.start()
    assert host.result('two')['version'] == 1
    assert host.callable('one').status == 404
    assert f'{artifact}.so is gone' in deploys.function('one')['problem']
    assert f'{artifact}.so is gone' in host.banner
    deploys.deploy({'Things': plugin(2, 'one')})
    assert host.result('one')['version'] == 2
    assert 'problem' not in deploys.function('one')


def test_a_variable_with_a_zero_byte(deploys):
    assert refused(deploys, {'Things': plugin(2, 'one')}, environment={'SETTING': 'x\0y'}) == [
        'the environment of Things: SETTING: the value has a zero byte, with which a variable would end']
