"""`hearth deploy` deploys the rules of the database too."""

import json

import pytest

from commands import Commands
from hearth import PROJECT, library

OWNER = [('Authorization', 'Bearer owner')]
CLOSED = '{\n  // Nobody.\n  "rules": {}\n}\n'
OPEN = '{\n  "rules": {".read": true}\n}\n'
WRONG = '{\n  "rules": {".read": "auth.uid =="}\n}\n'


class Project:
    """A folder with a plugin and a rules file, and a host elsewhere."""

    def __init__(self, host, folder):
        self.host, self.commands = host, Commands(host, folder)
        self.folder = folder
        self.configure({'Things': {'library': library('breaks')}}, OPEN)

    def configure(self, plugins, rules, **more):
        (self.folder / 'database.rules.json').write_text(rules)
        config = {'project': PROJECT, 'plugins': plugins, 'database': {'rules': 'database.rules.json'}, **more}
        (self.folder / 'functions.json').write_text(json.dumps({key: value for key, value in config.items() if value is not None}))

    def deploy(self, *arguments):
        return self.commands.result('deploy', '--non-interactive', *arguments)

    def refused(self, *arguments):
        return self.commands.run('deploy', '--non-interactive', *arguments).sentence

    @property
    def rules(self):
        return self.host.request('GET', '/.settings/rules.json', OWNER).text

    @property
    def functions(self):
        answer = self.host.request('GET', '/_/api/functions', OWNER)
        return [function['name'] for function in answer.json['functions']]


@pytest.fixture
def project(launch, tmp_path):
    return Project(launch([], mode='development'), tmp_path / 'project')


def test_both(project):
    done = project.deploy()
    assert done['rules']['state'] == 'deployed'
    assert done['rules']['file'].endswith('database.rules.json')
    assert project.rules.strip() == OPEN.strip()
    assert project.functions
    assert project.deploy()['rules']['state'] == 'unchanged'
    project.configure({'Things': {'library': library('breaks')}}, CLOSED)
    again = project.deploy()
    assert (again['rules']['state'], {change['action'] for change in again['changes']}) == ('deployed', {'unchanged'})
    assert project.rules.strip() == CLOSED.strip()


def test_rules_only(project):
    done = project.deploy('--only', 'database')
    assert 'changes' not in done
    assert done['rules']['state'] == 'deployed'
    assert project.rules.strip() == OPEN.strip()
    assert project.functions == []


def test_functions_only(project):
    before = project.rules
    assert 'rules' not in project.deploy('--only', 'functions')
    assert project.rules == before
    assert project.functions


def test_all_but_some(project):
    assert 'rules' not in project.deploy('--except', 'database')
    assert project.functions
    assert project.deploy('--except', 'functions')['rules']['state'] == 'deployed'


@pytest.mark.parametrize('arguments', [['--only', 'database,functions'], ['--only', 'functions', '--only', 'database']])
def test_several_targets(arguments, project):
    assert project.deploy(*arguments)['rules']['state'] == 'deployed'
    assert project.functions


def test_one_function_and_the_rules(project):
    everything = project.deploy('--dry-run', '--only', 'functions')['changes']
    name = everything[0]['function']
    done = project.deploy('--only', f'database,functions:{name}')
    assert [change['function'] for change in done['changes']] == [name]
    assert done['rules']['state'] == 'deployed'
    assert project.functions == [name]


def test_a_dry_run(project):
    before = project.rules
    done = project.deploy('--dry-run')
    assert (done['dryRun'], done['rules']['state']) == (True, 'valid')
    assert project.deploy('--dry-run', '--only', 'database')['rules']['state'] == 'valid'
    assert (project.rules, project.functions) == (before, [])


@pytest.mark.parametrize('arguments', [[], ['--dry-run'], ['--only', 'database']])
def test_faulty_rules_switch_nothing(arguments, project):
    before = project.rules
    project.configure({'Things': {'library': library('breaks')}}, WRONG)
    sentence = project.refused(*arguments)
    assert 'database.rules.json:2:' in sentence
    assert sentence.endswith('nothing was changed')
    assert (project.rules, project.functions) == (before, [])
    assert project.deploy('--only', 'functions')['changes']


def test_lines_for_a_person(project):
    said = project.commands.succeeds('deploy', '--only', 'database')
    assert said.startswith('Rules of ')
    assert 'are in force' in said
    assert 'unchanged' in project.commands.succeeds('deploy', '--only', 'database')


def test_a_project_without_plugins(project):
    project.configure({}, OPEN)
    assert project.deploy()['rules']['state'] == 'deployed'
    assert 'names no plugins' in project.refused('--only', 'functions')


def test_a_project_without_rules(project):
    project.configure({'Things': {'library': library('breaks')}}, OPEN, database=None)
    assert 'rules' not in project.deploy()
    assert 'names no rules' in project.refused('--only', 'database')


def test_mistakes(project):
    assert 'one file' in project.refused('--only', 'database:main')
    assert 'leaves nothing' in project.refused('--except', 'functions,database')
    project.configure({'Things': {'library': library('breaks')}}, OPEN, project='demo-other')
    assert 'nothing was changed' in project.refused('--only', 'database')
