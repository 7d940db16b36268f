"""`hearth deploy` from the folder of a project to a host that serves."""

import subprocess

import pytest

from deploys import Deploys, plugin
from hearth import BINARY, library
from projects import Project, actions
from tokens import PROJECT


@pytest.fixture
def host(launch):
    return launch({})


@pytest.fixture
def project(host, tmp_path):
    return Project(tmp_path / 'project', host)


def versions(host):
    return {name: function['version'] for name, function in Deploys(host).functions.items()}


# -- whole and in parts

def test_everything(project, host):
    project.write(Things=plugin(1, 'one', 'two'), Others=plugin(1, 'three'))
    said = project.hearth.succeeds('deploy')
    assert 'Uploaded libThings.so' in said
    assert 'Deployed: 3 created.' in said
    assert f'http://127.0.0.1:{host.port}{host.path("one")}' in said
    assert all(word in said.splitlines()[-1] for word in ('build', 'upload', 'switch'))
    assert [host.result(name)['version'] for name in ('one', 'two', 'three')] == [1, 1, 1]


def test_nothing_to_do_is_one_line(project, host):
    project.write(Things=plugin(1, 'one', 'two')).deploys()
    assert project.hearth.succeeds('deploy') == 'Nothing to deploy: all 2 functions are unchanged.\n'
    assert versions(host) == {'one': 1, 'two': 1}
    assert len(Deploys(host).history) == 1


def test_the_plan_is_a_table(project):
    project.write(Things=plugin(1, 'one', 'two')).deploys()
    project.write({'functions': {'one': {'timeoutSeconds': 9}}})
    lines = project.hearth.succeeds('deploy').splitlines()
    at = lines.index(next(line for line in lines if line.startswith('Plan for ')))
    heading, one, two = lines[at + 1:at + 4]
    assert heading.split() == ['Function', 'Plugin', 'Change', 'Version', 'Why']
    assert one.split()[:6] == ['one', 'Things', 'update', '1', '->', '2']
    assert 'timeoutSeconds' in one
    assert two.split()[:4] == ['two', 'Things', 'unchanged', '1']
    assert heading.index('Why') == one.index('options') == two.index('library')


FUNCTIONS = ['app', 'app-send', 'apple-pay', 'one']


@pytest.mark.parametrize('arguments, changed', [
    (['--only', 'functions:one'], ['one']), (['--only', 'functions:one,functions:apple'], ['apple-pay', 'one']),
    (['--only', 'functions:one', '--only', 'functions:apple-pay'], ['apple-pay', 'one']), (['--only', 'functions:app'], ['app', 'app-send']),
    (['--only', 'functions:app.send'], ['app-send']), (['--only', 'functions:Things'], FUNCTIONS),
    (['--only', 'functions:Things:app.send'], ['app-send']), (['--only', 'functions'], [*FUNCTIONS, 'other']),
    (['--except', 'functions:app'], ['apple-pay', 'one', 'other']), (['--except', 'functions:Things'], ['other']),
    # Excluded functions are left out, even if a name begins like a selected one.
    (['--except', 'functions:app-send'], ['app', 'apple-pay', 'one', 'other']),
    (['--only', 'functions:app', '--except', 'functions:app-send'], ['app']),
])
def test_parts(arguments, changed, project, host):
    project.write(Things=plugin(1, *FUNCTIONS), Others=plugin(1, 'other')).deploys()
    project.write(Things=plugin(2, *FUNCTIONS), Others=plugin(2, 'other'))
    before = {name: host.result(name)['pid'] for name in [*FUNCTIONS, 'other']}
    assert sorted(project.deploys(*arguments)) == changed
    for name, pid in before.items():
        now = host.result(name)
        assert now['version'] == (2 if name in changed else 1), name
        assert (now['pid'] == pid) == (name not in changed), name


def test_a_function_called_like_a_plugin(project, host):
    project.write(Things=plugin(1, 'one', 'Others'), Others=plugin(1, 'other')).deploys()
    project.write(Things=plugin(2, 'one', 'Others'), Others=plugin(2, 'other'))
    assert project.deploys('--only', 'functions:Things:Others') == {'Others': 'update'}
    assert versions(host) == {'one': 1, 'Others': 2, 'other': 1}
    assert project.deploys('--only', 'functions:Others') == {'other': 'update'}


def test_only_the_plugin_of_the_named_function_is_needed(project):
    """The other need not even be a library."""
    project.write(Things=plugin(1, 'one'), Others=plugin(1, 'other')).deploys()
    project.write(Things=plugin(2, 'one'))
    (project.folder / 'libOthers.so').write_text('half a librar')
    assert project.deploys('--only', 'functions:one') == {'one': 'update'}


def test_a_function_that_moved_to_another_plugin(project, host):
    project.write(Things=plugin(1, 'one', 'two'), Others=plugin(1, 'other')).deploys()
    project.write(Things=plugin(2, 'two'), Others=plugin(2, 'other', 'one'))
    assert project.deploys('--only', 'functions:one', '--non-interactive') == {'one': 'update'}
    assert host.result('one')['version'] == 2
    assert versions(host) == {'one': 2, 'two': 1, 'other': 1}


@pytest.mark.parametrize('arguments, words', [
    (['--only', 'functions:nothing'], 'functions:nothing matches no function; there are one, two'),
    (['--except', 'functions:nothing'], 'functions:nothing matches no function'), (['--only', 'one'], 'write functions:one'),
    (['--only', 'functions:Nobody:one'], 'there are Things'), (['--only', 'database'], 'names no rules'),
    (['--except', 'functions'], 'leaves nothing'), (['--only', 'functions:one,'], 'empty place'),
])
def test_names_that_are_none(arguments, words, project, host):
    project.write(Things=plugin(1, 'one', 'two'))
    assert words in project.deploy(*arguments).sentence
    assert versions(host) == {}


def test_a_dry_run_changes_nothing(project, host):
    project.write(Things=plugin(1, 'one', 'two')).deploys()
    project.write(Things=plugin(2, 'one', 'three'))
    said = project.hearth.succeeds('deploy', '--dry-run')
    assert said.splitlines()[-1] == 'A dry run: nothing was changed.'
    result = project.hearth.result('deploy', '--dry-run')
    assert result['dryRun'] is True
    assert {change['action'] for change in result['changes']} == {'create', 'update', 'delete'}
    assert versions(host) == {'one': 1, 'two': 1}
    assert host.result('one')['version'] == 1


def test_a_dry_run_uploads_nothing(project, host):
    """The plan is the one that a deployment would have; the library stays here, also one that the host has never seen."""
    project.write(Things=plugin(1, 'one', 'two'))
    result = project.hearth.result('deploy', '--dry-run')
    assert actions(result) == {'one': 'create', 'two': 'create'}
    kept = [path.name for folder in ('uploads', 'artifacts') for path in (host.data / folder).rglob('*') if path.is_file()]
    assert kept == []
    assert project.deploys() == {'one': 'create', 'two': 'create'}


def test_a_dry_run_of_a_library_that_cannot_be_loaded(project, host):
    (project.folder / 'libThings.so').write_bytes(b'no library')
    project.config['plugins'] = {'Things': {'library': 'libThings.so'}}
    project.write()
    outcome = project.deploy('--dry-run')
    assert outcome.status == 1
    assert outcome.error.splitlines()[-1].endswith('libThings.so: it cannot be loaded; nothing was changed')
    assert versions(host) == {}


@pytest.mark.parametrize('arguments', [['--dry-run'], []])
def test_a_secret_that_the_host_lacks(arguments, project, host):
    """The author's own secrets stay where they are; the host's file is meant, and said to be."""
    spell = {'callableTrigger': {}, 'secretEnvironmentVariables': [{'key': 'API_KEY'}]}
    project.write(Things=plugin(1, spell=spell))
    (project.folder / '.secret.local').write_text('API_KEY=mine\n')
    (project.folder / '.secret.local').chmod(0o600)
    sentence = project.deploy(*arguments).sentence
    assert sentence == (f'on the host, {host.folder}/.secret.local: the function spell needs the secret API_KEY; '
                        'add a line API_KEY=value')
    assert versions(host) == {}


# -- functions that vanished

@pytest.fixture
def shrunk(project):
    """A project whose plugin has lost the functions `old` and `older`, and has a new `one`."""
    project.write(Things=plugin(1, 'one', 'old', 'older')).deploys()
    return project.write(Things=plugin(2, 'one'))


def test_nobody_to_ask(shrunk, host):
    outcome = shrunk.deploy()
    assert outcome.status == 1
    assert '\n    hearth functions:delete old\n    hearth functions:delete older\n' in outcome.error
    assert '--force' in outcome.error
    assert versions(host) == {'one': 1, 'old': 1, 'older': 1}


def test_asked_not_to_ask(shrunk, host):
    status, shown = shrunk.hearth.on_terminal('deploy', '--non-interactive')
    assert status == 1
    assert '[y/N]' not in shown
    assert 'hearth functions:delete older' in shown
    assert versions(host) == {'one': 1, 'old': 1, 'older': 1}


@pytest.mark.parametrize('answer', ['n\n', '\n', '\x04'])
def test_no_keeps_them_and_goes_on(answer, shrunk, host):
    status, shown = shrunk.hearth.on_terminal('deploy', answers=answer)
    assert status == 0, shown
    assert 'old (Things)' in shown
    assert '1 updated, 2 kept' in shown
    assert versions(host) == {'one': 2, 'old': 1, 'older': 1}
    assert host.result('old')['version'] == 1


def test_yes_deletes_them(shrunk, host):
    status, shown = shrunk.hearth.on_terminal('deploy', answers='y\n')
    assert status == 0, shown
    assert '1 updated, 2 deleted' in shown
    assert versions(host) == {'one': 2}
    assert host.callable('old').status == 404


def test_forced(shrunk, host):
    assert shrunk.deploys('--force') == {'one': 'update', 'old': 'delete', 'older': 'delete'}
    assert versions(host) == {'one': 2}


def test_no_and_nothing_else(project, host):
    project.write(Things=plugin(1, 'one', 'old')).deploys()
    project.write(Things=plugin(2, 'one')).deploys('--only', 'functions:one')
    status, shown = project.hearth.on_terminal('deploy', answers='n\n')
    assert (status, 'old kept' in shown) == (0, True), shown
    assert versions(host) == {'one': 2, 'old': 1}


def test_what_is_not_meant_is_not_asked_for(shrunk, host):
    assert shrunk.deploys('--only', 'functions:one', '--non-interactive') == {'one': 'update'}
    assert versions(host) == {'one': 2, 'old': 1, 'older': 1}


def test_functions_of_other_plugins_are_nobodys_business(project, host, tmp_path):
    Project(tmp_path / 'theirs', host).write(Theirs=plugin(1, 'theirs')).deploys()
    project.write(Things=plugin(1, 'one'))
    assert project.deploys('--non-interactive') == {'one': 'create'}
    assert versions(host) == {'theirs': 1, 'one': 1}


# -- options and environment

def test_a_host_of_another_project(project, host):
    """The project determines the accepted tokens and the name of the database."""
    project.write({'project': 'demo-other'}, Things=plugin(1, 'one'))
    sentence = project.deploy().sentence
    assert sentence == (f'functions.json is of the project demo-other, and the host at {project.hearth.url} serves {PROJECT}; nothing was '
                        f'changed. Name the right host with --url, or deploy there with --project {PROJECT}')
    assert project.deploy('--project', 'demo-third').sentence.startswith(f'the host at {project.hearth.url} serves the project {PROJECT}')
    assert versions(host) == {}
    assert project.deploys('--project', PROJECT) == {'one': 'create'}


def test_variables_are_sent_and_secrets_are_not(launch, tmp_path):
    host = launch({})
    project = Project(tmp_path / 'project', host).write(Things=plugin(1, 'one'))
    (project.folder / '.env').write_text('SETTING=common\n')
    (project.folder / '.env.demo-hearth').write_text('SETTING="of the project"\n')
    (project.folder / '.env.local').write_text('SETTING=of the emulator\n')
    (project.folder / '.secret.local').write_text('SECRET=of whoever deploys\n')
    (host.folder / '.secret.local').write_text('SECRET=of the host\n')
    (host.folder / '.secret.local').chmod(0o600)
    project.write({'functions': {'one': {'secrets': ['SECRET']}}}).deploys()
    assert (host.result('one')['setting'], host.result('one')['secret']) == ('of the project', 'of the host')
    assert b'of whoever deploys' not in b''.join(path.read_bytes() for path in host.data.rglob('*') if path.is_file())


def test_a_mode_for_developers_sends_what_is_local(project, host):
    project.write(Things=plugin(1, 'one'))
    (project.folder / '.env.local').write_text('SETTING=here\n')
    project.deploys('--mode', 'development')
    assert host.result('one')['setting'] == 'here'


@pytest.mark.parametrize('text, words', [
    ('A=1\nno sign\n', '.env:2:1: '), ('A=1\n\nlower=1\n', '.env:3:1: '), ('PORT=1\n', '.env:1:1: PORT is reserved'),
    ('FIREBASE_X=1\n', '.env:1:1: FIREBASE_X is reserved')])
def test_a_line_that_cannot_be_read(text, words, project, host):
    project.write(Things=plugin(1, 'one'))
    (project.folder / '.env').write_text(text)
    assert project.deploy().sentence.startswith(words)
    assert versions(host) == {}


def test_mistakes_in_functions_json_have_their_lines(project, host):
    project.write({'functions': {'one': {'timeoutSeconds': -1}, 'two': {'memory': 'much'}}}, Things=plugin(1, 'one'))
    outcome = project.deploy()
    lines = outcome.error.strip().splitlines()
    assert (outcome.status, len(lines)) == (1, 3)
    assert all(line.startswith('functions.json:') for line in lines[:2])
    assert 'functions.one.timeoutSeconds' in lines[0]
    assert 'functions.two.memory' in lines[1]
    assert lines[2] == 'hearth: 2 mistakes in functions.json; nothing was changed'


def test_options_for_all(project, host):
    project.write({'defaults': {'timeoutSeconds': 17}, 'functions': {'two': {'timeoutSeconds': 5}}}, Things=plugin(1, 'one', 'two')).deploys()
    assert {name: function['timeoutSeconds'] for name, function in Deploys(host).functions.items()} == {'one': 17, 'two': 5}


def test_options_of_nobody(project, host):
    project.write({'functions': {'onee': {'timeoutSeconds': 5}}}, Things=plugin(1, 'one'))
    outcome = project.deploy()
    assert outcome.status == 0
    assert outcome.error.startswith('warning: functions.json:')
    assert 'functions.onee: no plugin has a function of this name; did you mean "one"?' in outcome.error


def test_no_functions_json(project):
    assert 'functions.json' in project.deploy().sentence
    assert 'elsewhere.json' in project.deploy('--config', 'elsewhere.json').sentence


def test_another_functions_json(project, host):
    project.write(Things=plugin(1, 'one'))
    elsewhere = project.folder.parent / 'elsewhere'
    project.folder.rename(elsewhere)
    project.folder.mkdir()
    assert project.deploys('--config', elsewhere / 'functions.json') == {'one': 'create'}


# -- plugins that are refused

@pytest.mark.parametrize('name', ['entry_crashes', 'missing_entry', 'wrong_version', 'duplicate_names', 'invalid_manifest', 'garbage', 'truncated'])
def test_a_bad_plugin_changes_nothing(name, project, host, tmp_path):
    project.write(Things=plugin(1, 'one'), Others=plugin(1, 'other')).deploys()
    path = tmp_path / 'bad.so'
    if name == 'garbage':
        path.write_text('this is no library')
    elif name == 'truncated':
        path.write_bytes(open(library('versioned', VERSION=1), 'rb').read()[:3000])
    else:
        path = library(name)
    project.write(Things=plugin(2, 'one'), Others=path)
    outcome = project.deploy()
    assert 'libOthers.so' in outcome.sentence
    assert versions(host) == {'one': 1, 'other': 1}
    assert (host.result('one')['version'], host.result('other')['version']) == (1, 1)


def test_every_refusal_is_told(project):
    project.write(Things=library('missing_entry'), Others=library('wrong_version'))
    outcome = project.deploy()
    assert outcome.status == 1
    assert 'libThings.so' in outcome.error
    assert 'libOthers.so' in outcome.error


def test_one_name_in_two_plugins(project, host):
    project.write(Things=plugin(1, 'one'), Others=plugin(1, 'one', 'two'))
    outcome = project.deploy()
    assert outcome.status == 1
    assert 'libOthers.so: its function one' in outcome.error
    assert versions(host) == {}


def test_no_library(project):
    project.write(Things=plugin(1, 'one'))
    (project.folder / 'libThings.so').unlink()
    assert 'libThings.so' in project.deploy().sentence


# -- for programs

def test_json(project, host):
    project.write(Things=plugin(1, 'one'))
    result = project.hearth.result('deploy')
    assert (result['deployment'], result['revision'], result['dryRun']) == (1, 1, False)
    change, = result['changes']
    assert (change['function'], change['plugin'], change['action'], change['toVersion']) == ('one', 'Things', 'create', 1)
    assert change['url'] == f'http://127.0.0.1:{host.port}{host.path("one")}'


def test_json_of_a_failure(project):
    outcome = project.hearth.run('deploy', '--json')
    assert (outcome.status, outcome.json['status']) == (1, 'error')
    assert 'functions.json' in outcome.json['error']


@pytest.mark.parametrize('arguments', [['--wrong'], ['one'], ['--mode', 'staging'], ['--only']])
def test_wrong_arguments(arguments, project):
    assert project.deploy(*arguments).status == 64


def test_help_has_examples():
    for command in ('deploy', 'functions:list', 'functions:versions', 'functions:rollback', 'functions:split', 'functions:delete'):
        said = subprocess.run([BINARY, command, '--help'], capture_output=True, text=True, check=True).stdout
        assert f'hearth {command}' in said.split('Example', 1)[1], command
