"""`"isolation": "none"`: the same answers from inside the host's own process."""

import pytest

from hearth import BAD_REQUEST, INTERNAL, Host, callable_headers, error_body, library
from load import Load
from processes import until
from wire import event_values

STREAM = ('Accept', 'text/event-stream')


@pytest.fixture(scope='module')
def inside(tmp_path_factory, keys):
    plugins = {name: {'library': library(name), 'isolation': 'none'} for name in ('Conformance',)}
    host = Host(tmp_path_factory.mktemp('inside'), plugins, keys=keys).start()
    yield host
    host.stop()


def test_no_worker_is_started_for_it(inside):
    assert inside.result('echo', 1) == 1
    assert inside.loaded_workers() == []
    assert inside.plugins_of(inside.pid)


@pytest.mark.parametrize('data', [None, 0, 'x', [1, {'a': None}], {'a': [True, 1.5]}])
def test_results(data, inside):
    assert inside.result('echo', data) == data


def test_errors(inside):
    answer = inside.callable('throwsError', {'code': 'not-found', 'message': 'm', 'details': [1]})
    assert (answer.status, answer.json) == (404, error_body('NOT_FOUND', 'm', details=[1]))
    assert inside.callable('throwsPlain').json == INTERNAL
    assert inside.callable('returnsNaN').json == INTERNAL
    assert inside.request('POST', inside.path('echo'), callable_headers(), '{').json == BAD_REQUEST


def test_context(inside, keys):
    assert inside.result('contextInfo', token=keys.id_token('u9'))['uid'] == 'u9'
    assert inside.callable('contextInfo', token='junk').status == 401


def test_stream(inside):
    answer = inside.request('POST', inside.path('streamsCountdown'), [*callable_headers(), STREAM], '{"data":{"from":3}}')
    assert event_values(answer.body) == [{'message': {'n': n}} for n in (3, 2, 1)] + [{'result': 'liftoff'}]


def test_waiting_does_not_hold_others_up(inside):
    with inside.wire() as slow:
        slow.send_request('POST', inside.path('slowStream'), callable_headers(), '{"data":null}')
        for number in range(20):
            assert inside.result('echo', number) == number
        assert slow.response().json == {'result': 'done'}


def test_load(inside):
    with Load(inside, 'echo') as load:
        until(lambda: load.count() > 500, 'load')
    assert set(load.answers()) == {(200, None)}
    assert load.lost() == {}


def test_both_kinds_beside_each_other(launch):
    host = launch({'Conformance': {'library': library('Conformance'), 'isolation': 'none'}, 'probe': {'library': library('probe')}})
    assert host.result('echo', 1) == 1
    assert host.callable('abort').status == 500
    assert host.result('echo', 2) == 2


def test_a_library_that_refuses_the_host_may_still_call_it(launch):
    host = launch({'refuses': {'library': library('refuses_the_host'), 'isolation': 'none'}, 'probe': {'library': library('probe')}})
    assert host.callable('refusesTheHost').status == 404
    host.until_logged('still here, 20')
    assert host.result('pid') > 0
