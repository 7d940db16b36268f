"""Options that exclude each other or have invalid values: one sentence reports it before a request is sent to a host."""

import pytest

from commands import Commands

RULES = ('database:rules', 'test', '--path', '/a', '--operation')


@pytest.fixture(scope='module')
def hearth(tmp_path_factory):
    return Commands(None, tmp_path_factory.mktemp('nowhere'), url='http://127.0.0.1:1')


@pytest.mark.parametrize('arguments, sentence', [
    (('database:get', '/', '--order-by-key', '--order-by-value'), 'give only one of --order-by, --order-by-key and --order-by-value'),
    (('database:get', '/', '--order-by', 'a', '--order-by-key'), 'give only one of --order-by, --order-by-key and --order-by-value'),
    (('database:get', '/', '--order-by-key', '--limit-to-first', '1', '--limit-to-last', '1'),
     '--limit-to-first and --limit-to-last exclude each other'),
    (('database:get', '/', '--order-by-key', '--limit-to-last', '0'), 'a limit is at least 1'),
    (('database:get', '/', '--limit-to-first', '2'), '--limit-to-first needs an order: --order-by-key, --order-by-value or --order-by PATH'),
    (('database:get', '/', '--equal-to', '2'), '--equal-to needs an order: --order-by-key, --order-by-value or --order-by PATH'),
    (('functions:log', '--level', 'warn'), "the value 'warn' is invalid for '--level <level>'; please provide one of the following: "
     'trace, debug, info, notice, warning, error, critical'),
    (('database:set', '/a', 'file.json', '--data', '1'), 'name a file or give --data, not both'),
    (('database:import', '/a', '--chunk-size', '0'), '--chunk-size must be from 0.001 to 64 megabytes'),
    (('database:import', '/a', '--chunk-size', '65'), '--chunk-size must be from 0.001 to 64 megabytes'),
    (('database:import', '/a', '--concurrency', '0'), '--concurrency must be from 1 to 64'),
    (('database:import', '/a', '--concurrency', '65'), '--concurrency must be from 1 to 64'),
    (('database:import', '/a', '--resume-at=-1'), '--resume-at must be a byte of the file, at least 0'),
    ((*RULES, 'read', '--data', '1'), 'a read takes no --data'), ((*RULES, 'write'), 'a write needs --data: what is written, or null to remove'),
    ((*RULES, 'update'), 'an update needs --data: an object with the keys to replace'),
    (('events:list', '--limit', '0'), '--limit must be at least 1'), (('events:replay',), 'give the ids of events, or --all'),
    (('events:delete', '1', '--function', 'f'), '--function needs --all'),
    (('functions:call', 'f', '--as', 'a', '--id-token', 'b'), '--as and --id-token exclude each other'),
    (('functions:shell', '--claims', '{}'), '--claims needs --as'), (('functions:call', 'f', '--path', 'x'), '--path must begin with / or ?'),
    (('functions:call', 'f', '--method', 'a b'), '--method must be a word such as PUT'),
    (('functions:call', 'f', '--header', 'x'), "a header must be a name, a colon and a value, as in 'Accept: text/html'"),
    (('functions:log', '--follow', '--until', '1m'), '--follow and --until exclude each other'),
    (('functions:log', '--lines', '10001'), '--lines must be a number from 0 to 10000'),
    (('functions:log', '--lines=-1'), '--lines must be a number from 0 to 10000'),
    (('functions:split', 'f', '5=50', '5=50'), 'name two different versions'),
    (('functions:split', 'f', '5=90', '6=20'), 'the percentages must add up to 100'),
    (('functions:split', 'f', '1=50', '2=25', '3=25'), 'name one version or two, such as 5=90 6=10'),
    (('upgrade', '--timeout', '0'), '--timeout must be a number of seconds from 1 to 3600'),
    (('upgrade', '--timeout', '3601'), '--timeout must be a number of seconds from 1 to 3600'),
    (('messaging:devices', '--limit', '0'), '--limit must be at least 1'),
])
def test_arguments_that_cannot_be(arguments, sentence, hearth):
    said = hearth.run(*arguments)
    assert (said.status, said.output) == (64, ''), said
    assert said.error.startswith(f'hearth: {sentence} (see: hearth {arguments[0]}'), said.error
    assert said.error.count('\n') == 1


@pytest.mark.parametrize('arguments, sentence', [
    (('database:set', '/x/a.b', '--data', '1', '--force'), '/x/a.b is not a valid path: a key cannot contain ".", nor any of . # $ [ ] /'),
    (('database:get', '/a[0]'), '/a[0] is not a valid path: a key cannot contain "[", nor any of . # $ [ ] /'),
    (('database:push', '/a\tb', '--data', '1'), 'is not a valid path: a key cannot contain a control character, nor any of . # $ [ ] /'),
    (('database:set', '/a', '--data', 'undefined', '--force'), "a string needs its own quotes: --data '\"text\"'"),
    (('database:set', '/a', '--data', '{a: b}', '--force'), 'the value of --data is not JSON (1:5: b is not a value; text needs quotes)'),
    ((*RULES, 'read', '--auth', '{uid: ada}'), 'the value of --auth is not JSON (1:7: ada is not a value; text needs quotes)'),
])
def test_values_that_cannot_be(arguments, sentence, hearth):
    assert sentence in hearth.run(*arguments).sentence
