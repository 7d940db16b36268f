"""The routing of URLs: section 10 of the specification."""

import pytest

from hearth import PROJECT, REGION, callable_headers

ORIGIN = ('Origin', 'https://a.example')


def call(host, target, authority=None, headers=()):
    return host.request('POST', target, [*callable_headers(), *headers], '{"data":1}', host=authority)


@pytest.mark.parametrize('target', [
    f'/{PROJECT}/{REGION}/echo', f'/{PROJECT}/{REGION}/echo/', f'/{PROJECT}/{REGION}/echo/more/path', f'/{PROJECT}/{REGION}/echo?x=1',
    '/echo', '/echo/', '/echo/more', '/echo?x=1',
])
def test_shapes_of_a_path(target, conformance):
    answer = call(conformance, target)
    assert (answer.status, answer.json) == (200, {'result': 1})


@pytest.mark.parametrize('authority', [f'{REGION}-{PROJECT}.cloudfunctions.net', f'{REGION}-{PROJECT}.localhost:5001',
                                       f'{REGION}-{PROJECT}.example.com:80', f'{REGION.upper()}-{PROJECT}.Example.com'])
def test_host_form(authority, conformance):
    answer = call(conformance, '/echo/x', authority)
    assert (answer.status, answer.json) == (200, {'result': 1})


def test_host_form_of_another_region(conformance):
    assert call(conformance, '/echo', f'europe-west1-{PROJECT}.cloudfunctions.net').status == 404


def test_host_that_stands_for_nothing_in_particular(conformance):
    """A custom domain: every host name leads to the one project."""
    assert call(conformance, '/echo', 'functions.example.org').json == {'result': 1}


def test_absolute_form(conformance):
    target = f'http://127.0.0.1:{conformance.port}{conformance.path("echo")}'
    assert call(conformance, target).json == {'result': 1}


@pytest.mark.parametrize('target', [f'/other/{REGION}/echo', f'/{PROJECT}/europe-west1/echo', f'/{PROJECT}/{REGION}/echoes',
                                    f'/{PROJECT}/{REGION}/Echo', f'/{PROJECT}/{REGION}/', f'/{PROJECT}/{REGION}', '/echoes', '/', '//echo',
                                    f'/{PROJECT}/{REGION}/ech%00o', f'/{PROJECT}/{REGION}/../{REGION}/echo'])
def test_what_is_not_found(target, conformance):
    assert call(conformance, target).status == 404


def test_unknown_function_names_those_that_there_are(conformance):
    answer = call(conformance, f'/{PROJECT}/{REGION}/nope')
    assert answer.status == 404
    assert answer.header('Content-Type').startswith('text/')
    assert answer.text.startswith(f'Function {REGION}-nope does not exist, valid functions are: ')
    names = answer.text.split(': ', 1)[1].rstrip('.\n').split(', ')
    assert {f'{REGION}-echo', f'{REGION}-v1Echo'} <= set(names)


def test_name_in_a_404_is_text_only(conformance):
    answer = call(conformance, f'/{PROJECT}/{REGION}/<script>')
    assert answer.status in (400, 404)
    assert 'html' not in (answer.header('Content-Type') or '')


def test_anything_else_is_not_found(conformance):
    answer = conformance.request('GET', '/a/b/c/d/e')
    assert (answer.status, answer.text) == (404, 'Not Found: nothing is served at this address; a database path ends with .json: /a/b/c/d/e.json')


@pytest.mark.parametrize('target', ['/favicon.ico', '/robots.txt'])
def test_what_browsers_ask_for_by_themselves(target, conformance):
    assert conformance.request('GET', target).status == 404


def test_backends(conformance):
    answer = conformance.request('GET', '/backends', [ORIGIN])
    assert answer.status == 200
    assert isinstance(answer.json['backends'], list)
    assert answer.header('Access-Control-Allow-Origin') in ('*', ORIGIN[1])


@pytest.mark.parametrize('target', ['/_/health', '/_/ready'])
def test_the_hosts_own_pages(target, conformance):
    assert conformance.request('GET', target).status == 200
