"""Before the plugins are loaded nobody knows which functions there are: callers are asked to come again."""

import contextlib

from processes import until


def test_calls_while_plugins_load_are_unavailable(prepare):
    """A plugin whose entry hangs keeps the host loading until its patience ends."""
    host = prepare(['Conformance', 'entry_hangs']).spawn()

    def answer():
        with contextlib.suppress(OSError):
            return host.request('GET', '/_/ready')
        return None

    ready = until(answer, 'the host listens')
    assert ready.status == 503
    call = host.callable('echo', 1, headers={'Origin': 'https://a.test'})
    assert (call.status, call.header('Retry-After'), call.header('Access-Control-Allow-Origin')) == (503, '1', 'https://a.test')
    assert host.request('GET', '/_/health').status == 200
    until(host.is_ready, 'the plugin that hangs is given up', 30)
    assert host.result('echo', 1) == 1
    host.until_logged('entry_hangs')
