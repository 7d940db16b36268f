"""The times of unsigned tokens in development mode, as docs/running.md lists them."""

import time

import pytest

from fixtures import own_database
from hearth import Host
from live import Live
from tokens import id_claims, unsigned

HOUR = 3600


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('unsigned'), ['Conformance'], mode='development').start()
    yield host
    host.stop()


database = own_database({'rules': {'.read': 'auth.uid === "ada"'}})


def without(name):
    return {key: value for key, value in id_claims('ada').items() if key != name}


@pytest.mark.parametrize('claims', [id_claims('ada', lifetime=-100), without('exp'), without('iat'), id_claims('ada', exp=0),
                                    id_claims('ada', iat=4102444800, auth_time=4102444800, nbf=4102444800)])
def test_tokens_of_any_time_are_accepted(claims, host, database):
    token = unsigned(claims)
    assert host.result('contextInfo', token=token)['uid'] == 'ada'
    assert database.ask('GET', '/a.json', headers={'Authorization': f'Bearer {token}'}).status == 200
    with Live(host.port, database.namespace) as live:
        assert live.do('auth', cred=token)['auth']['uid'] == 'ada'


@pytest.mark.parametrize('time', ['never', 1.5, -1, 253402300800, True])
def test_no_times_are_refused(time, host, database):
    token = unsigned(id_claims('ada', exp=time))
    assert host.callable('contextInfo', token=token).status == 401
    assert database.ask('GET', '/a.json', headers={'Authorization': f'Bearer {token}'}).status == 401
    with Live(host.port, database.namespace) as live:
        assert live.ask('auth', cred=token)[0] == 'invalid_token'


def test_the_end_of_a_live_connection(host, database):
    with Live(host.port, database.namespace) as live:
        begin = int(time.time())
        assert begin + HOUR <= live.do('auth', cred=unsigned(without('exp')))['expires'] <= time.time() + HOUR
        assert 'expires' not in live.do('auth', cred=unsigned(id_claims('ada', lifetime=-1)))
    token = unsigned(id_claims('ada', lifetime=2))
    with Live(host.port, database.namespace) as live:
        assert live.do('auth', cred=token)['expires'] <= time.time() + 2
        assert live.push() == ('ac', {'s': 'expired_token', 'd': 'Auth token is expired'})
    with Live(host.port, database.namespace) as live:
        assert 'expires' not in live.do('auth', cred=token)
