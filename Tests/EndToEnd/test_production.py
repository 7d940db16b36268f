"""docs/production.md can be followed: a clean root, a project of `hearth init`, and the page's own commands."""

import os
import re
import shutil
import subprocess

import pytest

from built_packages import FOLDER, alone, write
from hearth import BINARY, ROOT

PAGE = (ROOT / 'docs/production.md').read_text()
AS_ROOT = [] if os.geteuid() == 0 else ['sudo', '--preserve-env']


def blocks(kind):
    return re.findall(rf'^```{kind}\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)


def project():
    """A project that `hearth init` has made, in a folder that stays, so that a build finds what was built before."""
    folder, fresh = FOLDER / 'greetings', FOLDER / 'greetings-fresh'
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    subprocess.run([BINARY, 'init', '--name', 'Greetings', '--package', ROOT], cwd=fresh, check=True, capture_output=True)
    for path in fresh.rglob('*'):
        if path.is_file():
            write(folder / path.relative_to(fresh), path.read_text().replace('greetings-fresh', 'greetings'))
    shutil.rmtree(fresh)
    return folder


@pytest.mark.timeout(1800)
def test_the_steps_lead_to_a_host_that_serves(tmp_path):
    with alone('greetings'):
        folder = project()
        files = tmp_path / 'files'
        files.mkdir()
        for path in (BINARY, ROOT / 'packaging/systemd/hearth.service', ROOT / 'packaging/systemd/hearth.socket', folder / 'database.rules.json'):
            shutil.copy(path, files)
        steps = blocks('bash')
        assert len(steps) >= 4
        deploy = next(block for block in blocks('text') if 'hearth deploy' in block)
        commands, afterwards = tmp_path / 'commands', tmp_path / 'afterwards'
        commands.write_text(''.join(steps))
        lines = [line.replace('$(ssh root@server.example cat ', '$(cat "$ROOT"') for line in deploy.splitlines()]
        afterwards.write_text('\n'.join([
            f'cd {folder}', *lines,
            # The next program takes over, and what was deployed is still there.
            'chroot "$ROOT" systemctl reload hearth', 'hearth functions:call greet \'{"name": "Grace"}\'',
            'for _ in {1..100}; do curl -s http://127.0.0.1:5001/greetings.json | grep "HELLO, ADA" && break; sleep 0.1; done',
            'stat -c "%n %U %G %a" "$ROOT"/etc/hearth/* "$ROOT"/etc/hearth/.secret.local',
            'chroot "$ROOT" ps -o user= -C hearth | sort -u', 'cat "$ROOT/var/log/hearth.log"']))
        (tmp_path / 'root').mkdir()
        done = subprocess.run(
            [*AS_ROOT, 'unshare', '--mount', '--net', '--pid', '--fork', '--kill-child', 'bash', ROOT / 'Tests/Support/clean_root.sh',
             tmp_path / 'root', files, commands, afterwards],
            capture_output=True, text=True, check=False, timeout=1500,
            env={**os.environ, 'PATH': f'{BINARY.parent}:{os.environ["PATH"]}'})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]
    said = done.stdout
    assert '{"status":"ready"}' in said
    assert 'Deployed: 2 created.' in said
    assert '"text":"Hello, Ada!"' in said
    assert '"text":"Hello, Grace!"' in said
    # The project's rules are in force: greetings are open to everybody.
    assert '"shout":"HELLO, ADA!"' in said
    for name in ('functions.json', 'database.rules.json', '.secret.local'):
        assert re.search(rf'/etc/hearth/{re.escape(name)} root \S+ 640\n', said), said
    assert not re.search(r'"severity":"(warning|error|critical)"', said), said
