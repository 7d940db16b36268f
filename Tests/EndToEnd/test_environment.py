"""The environment of a worker: its params and secrets, its own folder, and nothing of the host's."""

import re

import pytest

from hearth import Host, library
from processes import descriptors, environment, until

SECRET = 'host-secret-7f3a'


@pytest.fixture
def host(prepare):
    host = prepare(['probe', 'Conformance'], env={'HOST_ONLY': SECRET, 'LD_PRELOAD': '', 'HEARTH_TOKEN': SECRET})
    (host.folder / '.env').write_text('GREETING=hello\nPLAIN=one\nQUOTED="two\\nlines"\nLITERAL=\'a b\' # comment\nexport EXPORTED=x\n')
    (host.folder / '.env.demo-hearth').write_text('PLAIN=two\n')
    (host.folder / '.secret.local').write_text('API_KEY=s3cr3t-of-faults\nOTHER_KEY=s3cr3t-of-nobody\n')
    host.write_config(('probe', 'Conformance'), {'functions': {'environment': {'secrets': ['API_KEY']}}})
    return host.start()


def test_params(host):
    variables = host.result('environment')
    assert variables['GREETING'] == 'hello'
    assert variables['PLAIN'] == 'two'
    assert variables['QUOTED'] == 'two\nlines'
    assert variables['LITERAL'] == 'a b'
    assert variables['EXPORTED'] == 'x'


def test_what_every_function_sees(host):
    variables = host.result('environment')
    assert variables['GCLOUD_PROJECT'] == 'demo-hearth'
    assert 'FIREBASE_CONFIG' in variables


def test_secret_is_for_the_function_that_names_it(host):
    assert host.result('environment')['API_KEY'] == 's3cr3t-of-faults'
    assert host.result('secret') is None
    assert 'OTHER_KEY' not in host.result('environment')


def test_secrets_are_not_in_other_workers(host):
    host.result('environment')
    host.result('echo', 1)
    host.result('pid')
    holders = [process.pid for process in host.loaded_workers() if 's3cr3t-of-faults' in str(environment(process.pid))]
    assert len(holders) <= 1
    assert 's3cr3t' not in host.log


def test_the_hosts_own_variables_stay_outside(host):
    variables = host.result('environment')
    assert SECRET not in str(variables)
    # The plugin library's word for having a process to itself.
    assert {name for name in variables if name.startswith('HEARTH_')} <= {'HEARTH_WORKER'}
    for process in host.workers():
        assert SECRET not in str(environment(process.pid))


def test_no_descriptors_of_the_host(host):
    """A worker has its standard output and error, its channel and its log, and what its loop needs; nothing of the host."""
    with host.wire() as wire:
        assert wire.request('GET', '/_/health').status == 200
        host.result('pid')
        for process in host.workers():
            links = descriptors(process.pid)
            sockets = [link for number, link in links.items() if link.startswith('socket:')]
            assert len(sockets) <= 4, links
            assert not [link for link in links.values() if str(host.data) in link and '.log' not in link], links
            # The host closes the worker's ends once the worker has reported its start.
            until(lambda: not set(sockets) & set(descriptors(host.pid).values()), 'none is the host\'s')


def test_a_folder_of_its_own(host):
    folder = host.result('folder')
    assert folder != str(host.folder)
    assert folder.startswith(str(host.data))


def test_limit_of_open_files(launch):
    host = launch(['probe'], config={'workers': {'openFiles': 64}})
    assert host.result('opensFiles', {'count': 1000}) < 64
    assert host.result('pid') > 0


@pytest.mark.parametrize('name, text, line', [('.env', 'lower=1\n', 1), ('.env', 'A=1\nFIREBASE_X=1\n', 2), ('.env', 'PORT=1\n', 1),
                                              ('.env', 'A=1\nno equals sign\n', 2), ('.env', 'A="unended\n', 1)])
def test_environment_file_that_is_wrong(name, text, line, prepare):
    """Its plugin is left out; a plugin with another folder is served."""
    host = prepare({'probe': {'library': library('probe')}, 'Conformance': {'library': library('Conformance'), 'environment': 'fine'}})
    (host.folder / 'fine').mkdir()
    (host.folder / name).write_text(text)
    host.start()
    host.until_logged(f'{re.escape(name)}:{line}')
    assert host.callable('pid').status == 404
    assert host.result('echo', 1) == 1


def test_isolation_none_has_them_too(tmp_path):
    host = Host(tmp_path / 'inside', {'probe': {'library': library('probe'), 'isolation': 'none'}})
    (host.folder / '.env').write_text('GREETING=hello\n')
    host.start()
    assert host.result('environment')['GREETING'] == 'hello'
    host.stop()
