"""`hearth functions:list`, `versions`, `rollback`, `split` and `delete`."""

import re

import pytest

from commands import Commands
from deploys import Deploys, on_write, plugin


@pytest.fixture
def host(launch):
    return launch({})


@pytest.fixture
def deploys(host):
    return Deploys(host)


@pytest.fixture
def hearth(host, tmp_path):
    return Commands(host, tmp_path / 'here')


def table(text):
    """Rows of words; the columns are two blanks or more apart."""
    return [re.split(r' {2,}', line) for line in text.splitlines()]


# -- list

def test_no_functions(hearth):
    assert hearth.succeeds('functions:list') == 'No functions found in project demo-hearth.\n'
    assert hearth.result('functions:list')['functions'] == []


def test_the_list(hearth, deploys):
    deploys.deploy({'Things': plugin(1, 'one'), 'Others': plugin(1, other=on_write('/a/{b}', availableMemoryMb=2048))})
    deploys.deploy({'Things': plugin(2, 'one')})
    deploys.split('one', v1=10, v2=90)
    assert table(hearth.succeeds('functions:list')) == [
        ['Function', 'Version', 'Trigger', 'Location', 'Memory', 'Plugin'],
        ['one', '2 (90%), 1 (10%)', 'callable', 'us-central1', '256MiB', 'Things'],
        ['other', '1', 'google.firebase.database.ref.v1.written', 'us-central1', '2GiB', 'Others'],
    ]
    listed = hearth.result('functions:list')
    assert {function['name']: function['traffic'] for function in listed['functions']} == {'one': {'1': 10, '2': 90}, 'other': {'1': 100}}


# -- versions, rollback, split

@pytest.fixture
def three(deploys):
    """Three versions of `one`, the last of which gets the calls."""
    for version in (1, 2, 3):
        deploys.deploy({'Things': plugin(version, 'one', 'two')}, only=['functions:one'])
    return deploys


def test_versions(hearth, three):
    heading, *rows = table(hearth.succeeds('functions:versions', 'one'))
    assert heading == ['Version', 'Traffic', 'Made', 'Origin', 'Deployment', 'Plugin', 'Artifact', 'File']
    assert [row[:2] for row in rows] == [['3', '100%'], ['2', '-'], ['1', '-']]
    assert all(row[2].endswith('ago') for row in rows)
    assert [row[3:6] for row in rows] == [['deploy', str(number), 'Things'] for number in (3, 2, 1)]
    versions = hearth.result('functions:versions', 'one')['versions']
    assert [version['artifact'][:12] for version in versions] == [row[6] for row in rows]


def test_rollback(hearth, three, host):
    assert hearth.succeeds('functions:rollback', 'one') == 'one is back at version 2; it was at 3\n'
    assert host.result('one')['version'] == 2
    result = hearth.result('functions:rollback', 'one', '--to', '1')
    assert (result['from'], result['to']) == (2, 1)
    assert host.result('one')['version'] == 1


@pytest.mark.parametrize('arguments, traffic', [
    (['2=25', '3=75'], {'2': 25, '3': 75}), (['2=25%', '3=75%'], {'2': 25, '3': 75}), (['2=10'], {'2': 10, '3': 90}),
    (['1=100'], {'1': 100}), (['1=100', '2=0'], {'1': 100}),
])
def test_split(arguments, traffic, hearth, three):
    said = hearth.succeeds('functions:split', 'one', *arguments)
    assert all(f'version {version} gets {percent}%' in said for version, percent in traffic.items())
    assert three.function('one')['traffic'] == traffic


def test_a_split_changes_and_ends(hearth, three):
    hearth.succeeds('functions:split', 'one', '2=10')
    hearth.succeeds('functions:split', 'one', '2=50')
    assert three.function('one')['traffic'] == {'2': 50, '3': 50}
    # It would be ambiguous which of the two gets the rest.
    assert 'name it, as in ' in hearth.run('functions:split', 'one', '1=10').sentence
    assert hearth.result('functions:split', 'one', '2=100')['traffic'] == {'2': 100}


def test_a_split_of_one_version(hearth, deploys):
    deploys.deploy({'Things': plugin(1, 'one')})
    said = hearth.run('functions:split', 'one', '1=50').sentence
    assert said == 'one has version 1 only; calls can be divided once there is another'
    assert hearth.run('functions:rollback', 'one').sentence == 'one has had no other version before; its versions: 1'
    assert hearth.run('functions:split', 'one', '2=10').sentence == 'one has no version 2; its versions: 1'


@pytest.mark.parametrize('arguments', [['one'], ['one', '2'], ['one', '2=x'], ['one', '2=101'], ['one', '2=50', '3=49'], ['one', '2=50', '2=50'],
                                       ['one', '1=10', '2=10', '3=80'], ['one', '0=100'], ['one', '=100']])
def test_splits_that_are_none(arguments, hearth):
    assert hearth.run('functions:split', *arguments).status == 64


@pytest.mark.parametrize('arguments, words', [
    (['functions:versions', 'nobody'], 'nobody'), (['functions:rollback', 'nobody'], 'nobody'), (['functions:split', 'nobody', '1=10'], 'nobody'),
    (['functions:rollback', 'one', '--to', '9'], 'version 9'), (['functions:split', 'one', '9=100'], 'version 9'),
    (['functions:delete', 'nobody', '--force'], 'functions:list'), (['functions:delete', 'Nobody:one', '--force'], 'Nobody'),
])
def test_what_is_not_there(arguments, words, hearth, three):
    assert words in hearth.run(*arguments).sentence


# -- delete

@pytest.fixture
def many(deploys):
    deploys.deploy({'Chat': plugin(1, 'chat', 'chat-send', 'chatter', 'Things'), 'Things': plugin(1, 'one', 'two')})
    return deploys


@pytest.mark.parametrize('names, gone', [
    (['one'], {'one'}), (['one', 'chatter'], {'one', 'chatter'}), (['chat'], {'chat', 'chat-send'}), (['chat.send'], {'chat-send'}),
    (['functions:one'], {'one'}), (['Chat:chat', 'Chat:chatter'], {'chat', 'chat-send', 'chatter'}), (['Chat:Things'], {'Things'}),
])
def test_delete(names, gone, hearth, many):
    before = set(many.functions)
    assert set(hearth.result('functions:delete', *names, '--force')['deleted']) == gone
    assert set(many.functions) == before - gone


def test_a_plugin_comes_before_a_function(hearth, many):
    outcome = hearth.run('functions:delete', 'Things', '--force')
    assert outcome.status == 0
    assert 'Chat:Things' in outcome.error
    assert 'one is deleted' in outcome.output
    assert set(many.functions) == {'chat', 'chat-send', 'chatter', 'Things'}


def test_deleting_asks(hearth, many, host):
    status, shown = hearth.on_terminal('functions:delete', 'chat', answers='n\n')
    assert status == 1
    assert '2 functions chat, chat-send' in shown
    status, shown = hearth.on_terminal('functions:delete', 'one', answers='y\n')
    assert status == 0, shown
    assert set(many.functions) == {'chat', 'chat-send', 'chatter', 'Things', 'two'}
    assert host.callable('one').status == 404


def test_deleting_without_a_terminal(hearth, many):
    assert '--force' in hearth.run('functions:delete', 'one').sentence
    assert 'one' in many.functions


def test_deleting_at_a_location(hearth, many):
    assert 'matches no function' in hearth.run('functions:delete', 'one', '--region', 'europe-west1', '--force').sentence
    assert hearth.result('functions:delete', 'one', '--region', 'us-central1', '--force')['deleted'] == ['one']
