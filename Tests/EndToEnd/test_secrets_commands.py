"""`hearth secrets:*`: the file of secrets, and a function that gets a new value without a restart."""

import json
import os
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from commands import Commands
from hearth import BINARY

VALUES = [
    'plain', 'with space', ' edges ', "it's", '"quoted"', 'back\\slash', 'a#b', 'line one\nline two\n\nend', 'tab\there', 'é 🔥', '\\n', '$HOME',
    '\r\nx', '\x0b',
]


@pytest.fixture
def hearth(tmp_path):
    commands = Commands(None, tmp_path / 'here')
    (commands.folder / 'functions.json').write_text('{"project": "demo-hearth"}')
    return commands


def file(hearth):
    return hearth.folder / '.secret.local'


def test_set_get_list_and_destroy(hearth):
    assert 'No secrets' in hearth.succeeds('secrets:list')
    assert 'API_KEY is set' in hearth.succeeds('secrets:set', 'API_KEY', given='first\n')
    assert stat.S_IMODE(file(hearth).stat().st_mode) == 0o600
    hearth.succeeds('secrets:set', 'other-key', given='second')
    assert hearth.succeeds('secrets:list') == 'API_KEY\nother-key\n'
    assert hearth.succeeds('secrets:get', 'API_KEY') == 'first\n'
    assert hearth.result('secrets:get', 'other-key') == {'name': 'other-key', 'value': 'second'}
    assert '--force' in hearth.run('secrets:destroy', 'API_KEY').sentence
    hearth.succeeds('secrets:destroy', 'API_KEY', '--force')
    assert hearth.succeeds('secrets:list') == 'other-key\n'
    assert 'no secret "API_KEY"' in hearth.run('secrets:get', 'API_KEY').sentence
    assert 'no secret "API_KEY"' in hearth.run('secrets:destroy', 'API_KEY', '--force').sentence


@pytest.mark.parametrize('value', VALUES)
def test_every_value_comes_back(hearth, value, tmp_path):
    (tmp_path / 'value').write_bytes(value.encode() + b'\n')
    hearth.succeeds('secrets:set', 'A', '--data-file', tmp_path / 'value')
    assert hearth.result('secrets:get', 'A')['value'] == value
    hearth.succeeds('secrets:set', 'A', given='again')
    assert hearth.result('secrets:get', 'A')['value'] == 'again'


def test_other_lines_stay(hearth):
    file(hearth).write_text('# Keys of the shop\nA=1\n\nB="two\nlines" # here\nA=3\n# end')
    file(hearth).chmod(0o644)
    hearth.succeeds('secrets:set', 'B', given='new')
    assert file(hearth).read_text() == '# Keys of the shop\nA=1\n\nB=new\nA=3\n# end'
    assert stat.S_IMODE(file(hearth).stat().st_mode) == 0o640, 'others read it no more'
    hearth.succeeds('secrets:set', 'A', given='2')
    assert file(hearth).read_text() == '# Keys of the shop\n\nB=new\nA=2\n# end'
    hearth.succeeds('secrets:set', 'C', given='4')
    hearth.succeeds('secrets:destroy', 'B', '--force')
    assert file(hearth).read_text() == '# Keys of the shop\n\nA=2\n# end\nC=4\n'


def test_the_user_of_the_host_can_still_read_the_file(hearth):
    """As docs/production.md installs it: it belongs to root, and the host's group reads it."""
    file(hearth).write_text('A=1\n')
    group = 12345 if os.geteuid() == 0 else os.getegid()
    os.chown(file(hearth), -1, group)
    file(hearth).chmod(0o646)
    hearth.succeeds('secrets:set', 'B', given='2')
    status = file(hearth).stat()
    assert (stat.S_IMODE(status.st_mode), status.st_gid) == (0o640, group)


@pytest.mark.parametrize('name,given,said', [
    ('A B', 'x', "secret's name of letters"), ('FIREBASE_X', 'x', 'reserved'), ('LD_PRELOAD', 'x', 'reserved'), ('A', '', 'empty'),
    ('A', '\n', 'empty'), ('A', 'x\0y', 'zero byte'), ('A', 'x' * (1 << 20), 'bytes'), ('A', 'x' * (2 << 20), 'bytes'),
])
def test_what_is_refused(hearth, name, given, said):
    assert said in hearth.run('secrets:set', name, given=given).sentence
    assert not file(hearth).exists()


def test_refusals_of_files(hearth):
    assert 'UTF-8' in subprocess.run(
        [BINARY, 'secrets:set', 'A'], input=b'\xff', capture_output=True, cwd=hearth.folder, check=False).stderr.decode()
    assert 'absent' in hearth.run('secrets:set', 'A', '--data-file', 'absent').sentence
    assert 'functions.json' in hearth.run('secrets:list', '--config', 'elsewhere/functions.json').sentence
    assert 'no plugin "Shop"' in hearth.run('secrets:list', '--plugin', 'Shop').sentence
    file(hearth).write_text('A=1\nthe secret itself\n')
    refusal = hearth.run('secrets:set', 'B', given='2').sentence
    assert ':2:' in refusal and 'itself' not in refusal
    assert file(hearth).read_text() == 'A=1\nthe secret itself\n'


def test_changes_at_the_same_time(hearth):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: hearth.succeeds('secrets:set', f'S{number}', given=str(number)), range(24)))
    assert sorted(hearth.succeeds('secrets:list').split()) == sorted(f'S{number}' for number in range(24))
    assert sorted(path.name for path in hearth.folder.iterdir()) == ['.secret.local', 'functions.json']


def test_the_value_is_not_shown_while_it_is_typed(hearth):
    status, shown = hearth.on_terminal('secrets:set', 'A', answers='hidden\n', prompt='Value of A: ')
    assert status == 0 and 'A is set' in shown and 'hidden' not in shown
    assert hearth.succeeds('secrets:get', 'A') == 'hidden\n'


def test_a_plugin_with_a_folder_of_its_own(hearth):
    (hearth.folder / 'shop').mkdir()
    plugins = {'Shop': {'library': 'libShop.so', 'environment': 'shop'}}
    (hearth.folder / 'functions.json').write_text(json.dumps({'project': 'demo-hearth', 'plugins': plugins}))
    hearth.succeeds('secrets:set', 'A', '--plugin', 'Shop', given='1')
    assert (hearth.folder / 'shop/.secret.local').read_text() == 'A=1\n'
