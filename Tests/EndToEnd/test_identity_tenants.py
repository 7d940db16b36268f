"""Deleting a tenant with many users: gone at once, removed in portions, and after a kill."""

import contextlib
import sqlite3

import pytest

from identity import API, PASSWORD, Identity, refusal, sign_in_host, succeeded
from processes import until

USERS = 3000


@pytest.fixture(params=['development', 'production'])
def identity(request, tmp_path):
    host = sign_in_host(tmp_path / 'host', request.param).start()
    with Identity(host) as identity:
        yield identity
    host.stop()


def rows(identity, tenant):
    """The rows of a tenant in the store, counted from outside."""
    with contextlib.closing(sqlite3.connect(f'file:{identity.host.data}/users/users.sqlite?mode=ro', uri=True)) as store:
        return sum(store.execute(f'SELECT COUNT(*) FROM {table} WHERE tenant = ?', (tenant,)).fetchone()[0]
                   for table in ('user', 'link', 'session', 'code', 'removal'))


def test_a_large_tenant(identity):
    tenant = identity.managed('tenants', version='v2', displayName='one', allowPasswordSignup=True)['tenantId']
    signed_in = identity.sign_up('ada@example.com', tenantId=tenant)
    for start in range(0, USERS, 1000):
        users = [{'localId': f'u{number}', 'email': f'u{number}@example.com',
                  'providerUserInfo': [{'providerId': 'google.com', 'rawId': str(number)}]}
                 for number in range(start, start + 1000)]
        assert 'error' not in identity.managed(f'tenants/{tenant}/accounts:batchCreate', users=users)
    assert rows(identity, tenant) >= 2 * USERS
    succeeded(identity.ask('DELETE', f'{API}/v2/projects/{identity.project}/tenants/{tenant}'), 'delete')
    identity.host.kill()
    identity.close()
    # Usually most of it is still there: portions are ten milliseconds apart.
    assert rows(identity, tenant) < 2 * USERS
    identity.host.start()
    assert identity.post('accounts:signInWithPassword', email='ada@example.com', password=PASSWORD, tenantId=tenant).status == 400
    assert refusal(identity.refresh(signed_in['refreshToken'])) == 'INVALID_REFRESH_TOKEN'
    assert identity.refused('accounts:lookup', idToken=signed_in['idToken']) == 'USER_NOT_FOUND'
    until(lambda: rows(identity, tenant) == 0, 'the tenant is removed')
    # A user of the project is not one of the tenant.
    assert identity.sign_up('ada@example.com')['localId'] != signed_in['localId']
