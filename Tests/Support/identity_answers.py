"""Looking at answers: values at paths, whether a value holds another, and codes of authenticator apps."""

import base64
import hmac
import json
import re
import struct


def totp(secret, now):
    """The code of RFC 6238 for a secret in Base32: SHA-1, six digits, 30 seconds."""
    key = base64.b32decode(secret + '=' * (-len(secret) % 8))
    digest = hmac.new(key, struct.pack('>Q', now // 30), 'sha1').digest()
    at = digest[-1] & 15
    return f'{(struct.unpack_from(">I", digest, at)[0] & 0x7FFFFFFF) % 1_000_000:06}'


def check_errors(expect, answer):
    if 'error' not in expect and 'errorOneOf' not in expect:
        return
    assert answer.body[:1] == b'{' and 'error' in answer.json, 'expected an error'
    message = answer.json['error']['message']
    wanted = [expect['error']] if 'error' in expect else expect['errorOneOf']
    assert any(message.startswith(choice) for choice in wanted), f'{message!r}, expected {wanted}'


def closing(value, start):
    """The place of the brace that closes a template."""
    depth = 1
    for at in range(start, len(value)):
        depth += {'{': 1, '}': -1}.get(value[at], 0)
        if depth == 0:
            return at
    raise AssertionError(f'no end of a template in {value!r}')


def holds(value, wanted):
    """Whether a value contains the expected one: objects by key, arrays by position; null is an absent or null value."""
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(holds(value.get(key), item) for key, item in wanted.items())
    if isinstance(wanted, list):
        return isinstance(value, list) and len(value) >= len(wanted) and all(map(holds, value, wanted))
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


def find(document, path):
    """The values at a path such as `$.a[0].b`, `$.a[-1]`, `$.a[*].b`, `$.a[?key=='v']`, `$.*`."""
    assert path.startswith('$'), path
    found = [document]
    for name, index, key, wanted in re.findall(r"\.([\w*-]+)|\[(-?\d+|\*)\]|\[\?(\w+)=='([^']*)'\]", path):
        found = [item for value in found for item in members(value, name, index, key, wanted)]
    return found


def members(value, name, index, key, wanted):
    if name == '*':
        return list(value.values()) if isinstance(value, dict) else []
    if name:
        return [value[name]] if isinstance(value, dict) and name in value else []
    if not isinstance(value, list):
        return []
    if key:
        return [item for item in value if item.get(key) == wanted]
    if index == '*':
        return value
    return value[int(index):][:1] if -len(value) <= int(index) < len(value) else []


def only(found, what):
    assert len(found) == 1, f'{len(found)} times {what}'
    return found[0]


def operand(document, value):
    """A side of a comparison: a path's value, or the value itself."""
    return only(find(document, value), value) if isinstance(value, str) and value.startswith('$.') else value


def text(value):
    return value if isinstance(value, str) else json.dumps(value)
