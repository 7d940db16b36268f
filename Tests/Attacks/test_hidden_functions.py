"""Pages that list functions name none that their reader may not call."""

import pytest

from tokens import PROJECT


@pytest.fixture
def host(launch):
    functions = {'httpEcho': {'invoker': 'private'}, 'httpStream': {'ingressSettings': 'ALLOW_INTERNAL_ONLY'}}
    return launch(['Faults'], config={'functions': functions})


def listed(host, headers=()):
    unknown = [host.request('GET', path, headers) for path in (f'/{PROJECT}/us-central1/nope', f'/{PROJECT}/us-central1/httpEch')]
    assert [answer.status for answer in unknown] == [404, 404]
    return host.request('GET', '/backends', headers).text + ''.join(answer.text for answer in unknown)


def test_a_private_function_is_not_named(host):
    assert 'httpEcho' not in listed(host)
    assert 'httpEcho' not in listed(host, {'Authorization': 'Bearer wrong'})
    token = (host.data / 'admin-token').read_text().strip()
    assert 'httpEcho' in listed(host, {'Authorization': f'Bearer {token}'})


def test_an_internal_function_is_not_named_to_others(host):
    assert 'httpStream' in listed(host)
    assert 'httpStream' not in listed(host, {'X-Forwarded-For': '203.0.113.9'})
