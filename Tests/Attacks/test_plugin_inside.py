"""A plugin that is to run inside the host and cannot be loaded there: calls fail at once, and the host goes on and stops."""

import json

import pytest

from databases import OWNER
from deploys import CALLABLE, on_write, plugin
from hearth import error_body
from processes import until
from tokens import PROJECT

# Its probe worker does not have this variable.
REFUSES = 'if (getenv("REFUSES_THE_HOST")) return NULL'
REASON = 'its hearth_plugin_entry returned NULL'


@pytest.fixture
def host(prepare):
    library = plugin(1, at_entry=REFUSES, one=CALLABLE, noted=on_write('things/{id}'))
    return prepare({'Things': {'library': library, 'isolation': 'none'}}, mode='development')


def deployed(host):
    """It was served once; now it cannot be loaded any more."""
    host.start()
    assert host.result('one')['version'] == 1
    host.stop()
    host.variables['REFUSES_THE_HOST'] = '1'
    return host.start()


def test_calls_fail_at_once(host):
    deployed(host)
    for _ in range(20):
        answer = host.callable('one', timeout=5)
        message = "this function's plugin cannot be loaded into the host; the host's log says why"
        assert (answer.status, answer.json) == (503, error_body('UNAVAILABLE', message))
    assert REASON in host.until_logged('an instance cannot be started')
    # Once was enough: what a library has begun to do stays in the process.
    assert host.log.count('an instance cannot be started') == 1
    host.stop(seconds=10)


def test_its_events_wait(host):
    deployed(host)
    answer = host.request('PUT', f'/things/x.json?ns={PROJECT}-default-rtdb', OWNER, json.dumps('value-x'))
    assert answer.status == 200
    assert host.request('GET', '/_/api/databases/-/dead-letters', OWNER).json['deadLetters'] == []
    host.stop(seconds=10)
    del host.variables['REFUSES_THE_HOST']
    host.start()
    host.until_logged('handled .*value-x.* with version 1')


def test_it_is_not_deployed(host):
    """The first deployment is refused as a whole, as that of a plugin whose worker does not start."""
    host.variables['REFUSES_THE_HOST'] = '1'
    host.start()
    assert REASON in host.until_logged('a worker for one does not start|a worker for noted does not start')
    assert host.callable('one', timeout=5).status == 404
    assert until(lambda: host.request('GET', '/_/api/functions', OWNER).json, 'functions')['functions'] == []
    host.stop(seconds=10)
