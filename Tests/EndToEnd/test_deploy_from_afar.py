"""`hearth deploy` and its company: over TLS, with and without the token, killed at every step, and two at once."""

import json
import signal

import pytest

from commands import Commands
from deploys import Deploys, plugin
from processes import until
from projects import Project, actions
from secure_host import TLS, Secure
from step_proxy import StepProxy


@pytest.fixture
def host(launch):
    return launch({})


def versions(host):
    return {name: function['version'] for name, function in Deploys(host).functions.items()}


# -- killed

STEPS = ['GET /_/api/functions', 'GET /_/api', 'GET /_/api/artifacts/', 'PUT /_/api/artifacts/', 'POST /_/api/artifacts/',
         'POST /_/api/deployments', 'POST /_/api/deployments', 'GET /_/api/functions']


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    return plugin(1, 'one', 'two'), plugin(2, 'one', 'three')


@pytest.mark.parametrize('after', [False, True], ids=['asked', 'answered'])
@pytest.mark.parametrize('step', range(len(STEPS)), ids=['list', 'project', 'state', 'put', 'complete', 'plan', 'deploy', 'report'])
def test_killed_at_every_step(step, after, host, tmp_path, files):
    """The old or the new version runs, never a mixture, and the next attempt succeeds."""
    project = Project(tmp_path / 'project', host).write(Things=files[0])
    project.deploys()
    project.write(Things=files[1])
    proxy = StepProxy(host.port, hold=step, after=after)
    try:
        process = project.hearth.start('deploy', '--force', HEARTH_URL=proxy.url)
        assert proxy.held.wait(60)
        assert proxy.passed[step].startswith(STEPS[step])
        process.send_signal(signal.SIGKILL)
        process.communicate()
    finally:
        proxy.close()
    is_new = step > 6 or (step == 6 and after)
    assert versions(host) == ({'one': 2, 'three': 1} if is_new else {'one': 1, 'two': 1})
    assert host.result('one')['version'] == (2 if is_new else 1)
    done = project.hearth.result('deploy', '--force')
    assert set(actions(done).values()) == ({'unchanged'} if is_new else {'update', 'create', 'delete'})
    assert versions(host) == {'one': 2, 'three': 1}
    assert host.result('one')['version'] == 2


def test_a_host_that_starts_anew_in_between(host, tmp_path, files):
    """The deployment waits for it and goes on."""
    project = Project(tmp_path / 'project', host).write(Things=files[0])
    project.deploys()
    project.write(Things=files[1])
    proxy = StepProxy(host.port, hold=4)
    try:
        process = project.hearth.start('deploy', '--force', '--json', HEARTH_URL=proxy.url)
        assert proxy.held.wait(60)
        host.stop()
        host.start()
        proxy.go.set()
        output, error = process.communicate(timeout=60)
    finally:
        proxy.close()
    assert process.returncode == 0, error
    assert actions(json.loads(output)['result']) == {'one': 'update', 'two': 'delete', 'three': 'create'}


# -- two at once

def test_two_deployments_of_different_plugins(host, tmp_path):
    """Both deployments are done: the second one plans again."""
    projects = [Project(tmp_path / name, host).write(**{name: plugin(1, f'{name.lower()}-{index}')}) for index, name in enumerate(['One', 'Two'])]
    proxies = [StepProxy(host.port, hold=5) for _ in projects]
    try:
        processes = [project.hearth.start('deploy', HEARTH_URL=proxy.url) for project, proxy in zip(projects, proxies, strict=True)]
        # Both deployments were planned for the same state.
        assert all(proxy.held.wait(60) for proxy in proxies)
        for proxy in proxies:
            proxy.go.set()
        said = [process.communicate(timeout=60) for process in processes]
    finally:
        for proxy in proxies:
            proxy.close()
    assert [process.returncode for process in processes] == [0, 0], said
    assert versions(host) == {'one-0': 1, 'two-1': 1}


def test_two_deployments_of_the_same_library(host, tmp_path):
    path = plugin(1, 'one', 'two')
    projects = [Project(tmp_path / name, host).write(Things=path) for name in ('a', 'b')]
    processes = [project.hearth.start('deploy', '--json') for project in projects]
    results = [json.loads(process.communicate(timeout=60)[0])['result'] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert sorted(set(actions(result).values()).pop() for result in results) in (['create', 'unchanged'], ['create', 'create'])
    assert versions(host) == {'one': 1, 'two': 1}
    assert len(Deploys(host).history) == 1


# -- from another machine

@pytest.fixture
def secure(prepare):
    return Secure(prepare({}, config=TLS)).start().host


def remote(host, folder, token=None):
    """A project on another machine that knows only the host's address, and perhaps a token."""
    project = Project(folder, None).write(Things=plugin(1, 'one'))
    variables = {'HEARTH_TOKEN': token} if token else {}
    project.hearth = Commands(None, folder, url=f'https://localhost:{host.port}', **variables)
    return project


def token_of(host):
    return (host.data / 'admin-token').read_text().strip()


def test_over_tls_with_the_token(secure, tmp_path):
    project = remote(secure, tmp_path / 'far')
    authority = secure.folder / 'cert.pem'
    result = project.hearth.result('deploy', '--token', token_of(secure), '--ca-file', authority)
    assert actions(result) == {'one': 'create'}
    # The address is the one that was used, not one that the host knows itself by.
    assert result['changes'][0]['url'].startswith(f'https://localhost:{secure.port}/')
    assert Secure(secure).wire().request('POST', secure.path('one'), [('Content-Type', 'application/json')], '{"data":null}').status == 200
    listed = project.hearth.succeeds('functions:list', '--ca-file', authority, HEARTH_TOKEN=token_of(secure))
    assert 'Things' in listed


def test_a_certificate_that_nobody_vouches_for(secure, tmp_path):
    project = remote(secure, tmp_path / 'far', token_of(secure))
    assert '--ca-file' in project.deploy().sentence
    assert 'cannot be read' in project.deploy('--ca-file', 'nowhere.pem').sentence


@pytest.mark.parametrize('token', [None, 'wrong', 'owner'])
def test_without_the_right_token(token, host, tmp_path):
    project = Project(tmp_path / 'far', None).write(Things=plugin(1, 'one'))
    arguments = ['--url', f'http://127.0.0.1:{host.port}', *(['--token', token] if token else [])]
    sentence = project.deploy(*arguments).sentence
    assert 'token' in sentence
    assert 'admin-token' in sentence
    assert versions(host) == {}


def test_no_host(tmp_path):
    project = Project(tmp_path / 'far', None).write(Things=plugin(1, 'one'))
    assert 'hearth serve' in project.deploy('--url', 'http://127.0.0.1:1').sentence


@pytest.mark.parametrize('command', [['deploy'], ['functions:list'], ['database:get', '/']])
def test_a_token_does_not_cross_a_network_in_the_clear(command, tmp_path):
    """No host has the address 192.0.2.1, so a refusal here was made without connecting."""
    project = Project(tmp_path / 'far', None).write(Things=plugin(1, 'one'))
    sentence = project.hearth.run(*command, '--url', 'http://192.0.2.1:5001', '--token', 'secret').sentence
    assert 'https' in sentence
    assert '--insecure' in sentence


def test_a_network_that_is_trusted(host, tmp_path):
    """A name for this machine that is not known to be one."""
    project = Project(tmp_path / 'near', None).write(Things=plugin(1, 'one'))
    url = f'http://0.0.0.0:{host.port}'
    assert '--insecure' in project.deploy('--url', url, '--token', token_of(host)).sentence
    assert 'Deployed' in project.hearth.succeeds('deploy', '--url', url, '--token', token_of(host), '--insecure')


def test_large_libraries_go_up_in_pieces(host, tmp_path):
    path = tmp_path / 'large.so'
    path.write_bytes(open(plugin(1, 'one'), 'rb').read() + bytes(20 << 20))
    project = Project(tmp_path / 'project', host).write(Things=path)
    proxy = StepProxy(host.port)
    try:
        project.deploys(HEARTH_URL=proxy.url)
        assert sum(step.startswith('PUT') for step in proxy.passed) > 2
    finally:
        proxy.close()
    until(lambda: host.result('one')['version'] == 1, 'the function answers')
