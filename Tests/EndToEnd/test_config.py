"""functions.json: every mistake at once, each with its line; and what the file says takes effect."""

import json
import re

import jsonschema
import pytest

from hearth import ROOT, free_port, library
from processes import until

SCHEMA = json.loads((ROOT / 'Sources/Functions/Configuration/functions.schema.json').read_text())


def refused(host, text):
    """The messages about a configuration before the host ends with status 1."""
    host.config_path.write_text(text)
    host.spawn()
    status = host.process.wait(30)
    host.process = None
    assert status == 1, host.log
    return host.log


def test_every_mistake_is_reported_with_its_line(prepare):
    said = refused(prepare(), '''{
  "project": "Demo Hearth",
  "sever": { "port": 5001 },
  "server": { "port": "5001", "limits": { "bodyBytes": -1 } },
  "functions": {
    "echo": { "timeoutSeconds": 0, "memory": "lots",
              "cors": 7 },
    "1bad": {}
  }
}
''')
    expected = {2: 'project', 3: 'sever', 4: 'server.port', 6: 'functions.echo.timeoutSeconds', 7: 'functions.echo.cors', 8: '1bad'}
    for line, path in expected.items():
        assert re.search(rf'functions\.json:{line}:\d+: .*{re.escape(path)}', said), f'line {line}, {path}:\n{said}'
    assert re.search(r'functions\.json:4:\d+: server\.limits\.bodyBytes', said), said
    assert re.search(r'functions\.json:6:\d+: functions\.echo\.memory', said), said


@pytest.mark.parametrize('text, line', [
    ('', 1), ('{', 1), ('{\n "project": demo\n}', 2), ('{\n "project": "demo-hearth",\n}', 2), ('[]', 1),
    ('{"project": "demo-hearth",\n "project": "demo-other"}', 2), ('{"project": "demo-hearth"}\n}', 2), ('\0', 1),
])
def test_text_that_is_no_configuration(text, line, prepare):
    said = refused(prepare(), text)
    assert re.search(rf'functions\.json:{line}:\d+: ', said), said


@pytest.mark.parametrize('word, wanted', [('timeoutSecond', 'timeoutSeconds'), ('maxInstance', 'maxInstances')])
def test_a_misspelt_name_is_told_the_right_one(word, wanted, prepare):
    said = refused(prepare(), json.dumps({'project': 'demo-hearth', 'functions': {'echo': {word: 1}}}))
    assert wanted in said


def test_function_that_no_plugin_has(launch):
    """A plugin may be missing for a while; the host serves the others and reports it."""
    host = launch(config={'functions': {'nobodyHasThis': {'timeoutSeconds': 5}}})
    host.until_logged('nobodyHasThis')
    assert host.result('echo', 1) == 1


def test_the_projects_own_file_keeps_to_the_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads((ROOT / 'functions.json').read_text()), SCHEMA)


def test_the_files_of_these_tests_keep_to_the_schema(conformance):
    jsonschema.validate(conformance.config, SCHEMA)


def test_every_field_is_explained():
    bare = []

    def look(node, path):
        if not isinstance(node, dict):
            return
        for name, field in node.get('properties', {}).items():
            if not field.get('description'):
                bare.append(f'{path}.{name}')
            if not ({'default', 'examples'} & field.keys()):
                bare.append(f'{path}.{name} (no default, no example)')
            look(field, f'{path}.{name}')
        for name, definition in node.get('$defs', {}).items():
            look(definition, f'{path}#{name}')
        look(node.get('additionalProperties'), f'{path}.*')
        look(node.get('items'), f'{path}[]')

    look(SCHEMA, '')
    assert not bare, '\n'.join(bare)


def test_port_of_the_file(prepare):
    host = prepare(config={'server': {'port': free_port()}})
    host.port = host.config['server']['port']
    command = host.command()
    index = command.index('--port')
    host.command = lambda: command[:index] + command[index + 2:]
    host.start()
    assert host.result('echo', 1) == 1


def test_paths_are_relative_to_the_file(prepare):
    host = prepare(plugins={'Conformance': {'library': './libCopy.so'}})
    with open(library('Conformance'), 'rb') as source:
        (host.folder / 'libCopy.so').write_bytes(source.read())
    elsewhere = host.folder / 'elsewhere'
    elsewhere.mkdir()
    host.start()
    assert host.result('echo', 1) == 1


def test_region_of_a_function(launch):
    host = launch(config={'functions': {'echo': {'region': ['europe-west1', 'asia-east1']}}})
    body, headers = '{"data":1}', {'Content-Type': 'application/json'}
    statuses = {region: host.request('POST', f'/demo-hearth/{region}/echo', headers, body).status
                for region in ('europe-west1', 'asia-east1', 'us-central1')}
    assert statuses == {'europe-west1': 200, 'asia-east1': 200, 'us-central1': 404}


def test_omitted_function(launch):
    host = launch(config={'functions': {'echo': {'omit': True}}})
    assert host.callable('echo', 1).status == 404
    assert 'us-central1/echo' not in host.banner


def test_limits_of_the_file(launch):
    host = launch(config={'server': {'limits': {'bodyBytes': 2000, 'headerBytes': 2048}}})
    assert host.callable('echo', 'x' * 1900).status == 200
    assert host.callable('echo', 'x' * 2000).status == 413
    assert host.callable('echo', 1, headers={'X-Long': 'x' * 3000}).status == 431


def test_slow_clients_are_let_go(launch):
    host = launch(config={'server': {'limits': {'headerSeconds': 0.3, 'bodySeconds': 0.3, 'idleSeconds': 0.3}}})
    with host.wire() as idle, host.wire() as slow_head, host.wire() as slow_body:
        slow_head.send(b'POST /echo HTTP/1.1\r\nHost: a\r\n')
        slow_body.send(b'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"da')
        assert slow_head.head().status == 408
        assert slow_body.response('POST').status == 408
        assert idle.read_to_end() == b''
    assert host.result('echo', 1) == 1


def test_connections_beyond_the_maximum_are_refused(launch):
    host = launch(config={'server': {'connectionsMax': 2}})

    def admitted():
        """A connection that has a place; the one that asked whether the host is ready may still have had it."""
        wire = host.wire()
        if wire.request('GET', '/_/health').status == 200:
            return wire
        wire.close()
        return None

    first, second = until(admitted, 'a place'), until(admitted, 'another place')
    with host.wire() as third:
        assert third.response().status == 503
    first.close()
    until(admitted, 'the place of the first').close()
    second.close()


def test_cors_of_the_file(launch):
    host = launch(config={'functions': {'echo': {'cors': [{'regex': '^https://[a-z]+\\.example\\.org$'}, 'https://one.test']}}})

    def allowed(origin):
        return host.callable('echo', 1, headers={'Origin': origin}).header('Access-Control-Allow-Origin')

    assert [allowed(origin) for origin in ('https://a.example.org', 'https://one.test', 'https://two.test', 'https://x.y.example.org')] == \
        ['https://a.example.org', 'https://one.test', None, None]


def test_origin_without_a_scheme_is_warned_of(launch):
    host = launch(config={'functions': {'echo': {'cors': ['flutter.com', 'https://x.test']}}})
    host.until_logged('flutter.com')


def test_log_level(launch):
    quiet, chatty = launch(config={'logging': {'level': 'error'}}), launch(config={'logging': {'level': 'debug'}})
    for host in (quiet, chatty):
        host.result('echo', 1)
    chatty.until_logged('Callable request verification passed')
    assert 'verification passed' not in quiet.log
