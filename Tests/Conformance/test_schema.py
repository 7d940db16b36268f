"""The schemas mean to another validator what they mean to the host.

`cases/schema.json` holds values and, for each place in the two documents, the numbers of those that are valid there. This test
compares it with the `jsonschema` package, SchemaAgreementTests in Tests/ConfigurationTests with the host's own validator. After a
change to a schema, `SCHEMA_CASES=write` in the environment of this test writes the numbers anew.
"""

import copy
import json
import os
import re

import jsonschema
import pytest
from referencing import Registry, Resource

from hearth import ROOT

ROOM = ROOT / 'Sources/Functions/Configuration'
FILE = ROOT / 'Tests/Conformance/cases/schema.json'
CASES = json.loads(FILE.read_text())
FUNCTIONS = json.loads((ROOM / 'functions.schema.json').read_text())


def schema_text(name):
    """The text in a Swift source."""
    return re.search(r'#"""\n(.*)"""#', (ROOM / name).read_text(), re.DOTALL)[1]


MANIFEST = json.loads(schema_text('ManifestSchema.swift').replace('\\#(runTriggers)', schema_text('ManifestSchema+Runs.swift')))
SCHEMAS = {'functions': FUNCTIONS, 'manifest': MANIFEST}
# Values for free keys, by the key above.
CHOSEN = {'plugins': 'A', 'functions': 'f', 'endpoints': 'f', 'oidc': 'oidc.a'}


def places(schema, node, path=()):
    """Every place that the schema names, as keys from the top."""
    while '$ref' in node:
        file, _, name = node['$ref'].partition('#/$defs/')
        schema = FUNCTIONS if file else schema
        node = schema['$defs'][name]
    for key, child in node.get('properties', {}).items():
        yield (*path, key)
        yield from places(schema, child, (*path, key))
    if path and path[-1] in CHOSEN and 'additionalProperties' in node:
        yield (*path, CHOSEN[path[-1]])
        yield from places(schema, node['additionalProperties'], (*path, CHOSEN[path[-1]]))


def with_value(document, path, value):
    document = copy.deepcopy(document)
    inner = document
    for key in path[:-1]:
        inner = inner.setdefault(key, {})
    inner[path[-1]] = value
    return document


def accepted(kind):
    registry = Registry().with_resource('functions.schema.json', Resource.from_contents(FUNCTIONS))
    validator = jsonschema.Draft202012Validator(SCHEMAS[kind], registry=registry)
    base = CASES[kind]['base']
    assert validator.is_valid(base)
    # An object with exactly one key is tested as a whole: its base has one already.
    named = [path for path in places(SCHEMAS[kind], SCHEMAS[kind]) if 'keys' not in path[:-1]]
    return {
        '/'.join(path): [number for number, value in enumerate(CASES['values']) if validator.is_valid(with_value(base, path, value))]
        for path in [*named, ('unknown',)]
    }


def write():
    for kind in SCHEMAS:
        CASES[kind]['accepted'] = accepted(kind)
    lines = ['{', ' "values": [', ',\n'.join(f'  {json.dumps(value)}' for value in CASES['values']), ' ]']
    for kind in SCHEMAS:
        lines[-1] += ','
        rows = ',\n'.join(f'   {json.dumps(place)}: {numbers}' for place, numbers in CASES[kind]['accepted'].items())
        lines += [f' "{kind}": {{', f'  "base": {json.dumps(CASES[kind]["base"])},', '  "accepted": {', rows, '  }', ' }']
    FILE.write_text('\n'.join([*lines, '}', '']))


@pytest.mark.parametrize('kind', SCHEMAS)
def test_schema_is_one(kind):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[kind])


@pytest.mark.parametrize('kind', SCHEMAS)
def test_another_validator_agrees(kind):
    if os.environ.get('SCHEMA_CASES') == 'write':
        write()
    found = accepted(kind)
    differing = {place: numbers for place, numbers in found.items() if CASES[kind]['accepted'].get(place) != numbers}
    assert differing == {}
    assert found.keys() == CASES[kind]['accepted'].keys()
