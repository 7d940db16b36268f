"""`hearth doctor`: each thing is made wrong, and the command names it with its remedy."""

import json
import os
import re
import socket
import subprocess
import time

import pytest

from certificates import make_certificate
from commands import Commands
from hearth import BINARY, ROOT, compiled, free_port, library

# Verbs of the remedies. Those of the configuration, of rules and of plugins are of the checkers themselves.
ADVICE = re.compile(r'(raise|install|chmod|sysctl|remove|renew|run|name|set|turn|lower|choose|make|check|configure|correct|look|allow|listen)\b'
                    r'|(use (a|sqlite)|a newer kernel|mount a|--mode production) ?')
OF_CHECKERS = ('configuration', 'rules', 'plugins')


def doctor(host, *more, preload=None, binds=None, status=None, mode=None, limit=None, **variables):
    """The findings, by check; `binds` replaces files of the machine for the command only."""
    command = [BINARY, 'doctor', '--config', host.config_path, '--host', '127.0.0.1', '--port', host.port, '--mode', mode or host.mode, '--data-dir',
               host.data, '--json', *more]
    command = [str(word) for word in command]
    if limit:
        command = ['sh', '-c', f'ulimit -n {limit}; exec "$@"', 'sh', *command]
    for place, file in (binds or {}).items():
        command = ['unshare', '--mount', 'sh', '-c', f'mount --bind {file} {place} && exec "$@"', 'sh', *command]
    environment = {'PATH': '/usr/bin:/bin', 'HOME': str(host.folder), **({'LD_PRELOAD': preload} if preload else {}), **variables}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, cwd=host.folder, check=False)
    result = json.loads(done.stdout)['result']
    findings = [Finding(**one) for one in result['checks']]
    assert done.returncode == (1 if result['errors'] else 0), done.stderr
    assert result['errors'] == sum(one.result == 'error' for one in findings)
    assert result['warnings'] == sum(one.result == 'warning' for one in findings)
    for one in findings:
        assert '\n' not in one.message
        assert one.result == 'ok' or one.check in OF_CHECKERS or ADVICE.search(one.message), one.message
    if status is not None:
        assert done.returncode == status, findings
    return findings


class Finding:
    def __init__(self, check, result, message):
        self.check, self.result, self.message = check, result, message

    def __repr__(self):
        return f'{self.result} {self.check}: {self.message}'


def of(findings, check, result):
    found = [one.message for one in findings if one.check == check and one.result == result]
    assert found, (check, result, findings)
    return ' | '.join(found)


def fake(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


RULES = {'database': {'rules': 'rules.json'}}


@pytest.fixture
def healthy(prepare):
    """A host that is not started, with everything that it needs."""
    def make(**options):
        host = prepare(**{'plugins': ['probe'], 'config': RULES, **options})
        (host.folder / 'rules.json').write_text('{"rules": {}}')
        host.data.mkdir(mode=0o700)
        return host
    return make


def test_a_healthy_host_without_and_with_a_process(healthy):
    host = healthy(mode='development')
    before = doctor(host, status=0)
    names = {one.check for one in before}
    assert {'configuration', 'plugins', 'build tools', 'rules', 'port', 'data directory', 'clock', 'open files', 'file watches', 'connections',
            'memory', 'kernel', 'time zones', 'host'} <= names
    assert 'is free' in of(before, 'port', 'ok')
    assert 'none runs' in of(before, 'host', 'ok')
    assert list(host.data.iterdir()) == [], 'nothing was changed'
    host.start()
    after = doctor(host, status=0)
    assert 'is held by the host' in of(after, 'port', 'ok')
    assert 'answers and serves' in of(after, 'host', 'ok')
    assert 'agrees' in of(after, "host's clock", 'ok')


def test_lines_for_a_person(healthy):
    host = healthy(mode='development')
    done = subprocess.run([BINARY, 'doctor', '--config', host.config_path, '--port', str(host.port), '--data-dir', host.data], capture_output=True,
                          text=True, timeout=60, cwd=host.folder, env={'PATH': '/usr/bin:/bin'}, check=False)
    lines = done.stdout.splitlines()
    assert any(line.startswith('ok       configuration') for line in lines), done.stdout
    (host.folder / 'rules.json').write_text('{"rules": {".read": "nonsense("}}')
    done = subprocess.run([BINARY, 'doctor', '--config', host.config_path, '--port', str(host.port), '--data-dir', host.data], capture_output=True,
                          text=True, timeout=60, cwd=host.folder, env={'PATH': '/usr/bin:/bin'}, check=False)
    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if line.startswith('error    rules')]
    assert done.stdout.splitlines()[-1].startswith('1 error')


def test_the_configuration(healthy, tmp_path):
    host = healthy()
    host.config_path.write_text(json.dumps({**host.config, 'regoin': 'x', 'server': {'port': 'many'}}, indent=2))
    said = of(doctor(host, status=1), 'configuration', 'error')
    assert 'regoin' in said
    assert 'server.port' in said
    host.config_path.unlink()
    assert 'hearth init' in of(doctor(host, status=1), 'configuration', 'error')


def test_a_secret_that_cannot_be_used(healthy):
    host = healthy(config={'auth': {'mail': {'host': '127.0.0.1', 'from': 'a@b.example', 'user': 'u', 'passwordFile': 'absent'}}})
    assert 'absent' in of(doctor(host, status=1), 'configuration', 'error')


def test_plugins(healthy, tmp_path):
    text = fake(tmp_path, 'text.so', 'no library')
    host = healthy(plugins={'Gone': {'library': '/nowhere/lib.so'}, 'Text': {'library': str(text)}, 'Wrong': {'library': library('wrong_version')},
                            'Right': {'library': library('probe')}})
    findings = doctor(host, status=1)
    said = of(findings, 'plugins', 'error')
    assert '/nowhere/lib.so: cannot be read' in said
    assert 'is not an ELF file' in said
    assert 'Wrong: ' in said
    assert 'Right can be loaded' in of(findings, 'plugins', 'ok')


def test_a_product_without_a_compiler(healthy):
    host = healthy(mode='development', plugins={'Own': {'product': 'Own'}})
    findings = doctor(host, status=1)
    assert 'swift build' in of(findings, 'plugins', 'error')
    assert [one for one in findings if one.check == 'build tools'], findings


def test_an_old_compiler(healthy, tmp_path):
    tools = tmp_path / 'tools'
    tools.mkdir()
    (tools / 'swift').write_text('#!/bin/sh\necho "Swift version 5.9.1 (swift-5.9.1-RELEASE)"\n')
    (tools / 'swift').chmod(0o755)
    host = healthy(mode='development', plugins={'Own': {'product': 'Own'}})
    findings = doctor(host, status=1, PATH=f'{tools}:/usr/bin:/bin')
    assert 'is version 5.9.1; install Swift 6.3' in of(findings, 'build tools', 'error')
    assert 'llvm-symbolizer' in of(findings, 'build tools', 'warning')


def test_rules(healthy):
    host = healthy()
    (host.folder / 'rules.json').write_text('{\n  "rules": {".read": "auth.uid =="}\n}')
    assert 'rules.json:2:' in of(doctor(host, status=1), 'rules', 'error')
    (host.folder / 'rules.json').unlink()
    doctor(host, status=1)
    del host.config['database']
    host.config_path.write_text(json.dumps(host.config))
    assert 'clients can neither read nor write' in of(doctor(host, status=0), 'rules', 'warning')


def test_a_port_of_another_program(healthy):
    host = healthy()
    with socket.create_server(('127.0.0.1', host.port)) as other:
        findings = doctor(host, status=1)
        assert 'is in use by another program' in of(findings, 'port', 'error')
        other.settimeout(0.1)
        with pytest.raises(TimeoutError):
            other.accept()


def test_a_host_that_listens_elsewhere(healthy):
    """It uses the data directory, and another program has the port."""
    host = healthy(mode='development').start()
    own, host.port = host.port, free_port()
    try:
        with socket.create_server(('127.0.0.1', host.port)):
            pass
        assert 'name its address with --url' in of(doctor(host, status=1), 'host', 'error')
        assert 'serves' in of(doctor(host, '--url', f'http://127.0.0.1:{own}', status=0), 'host', 'ok')
    finally:
        host.port = own


def test_another_mode_and_project(healthy):
    host = healthy(mode='development').start()
    host.config_path.write_text(json.dumps({**host.config, 'project': 'demo-other'}))
    said = of(doctor(host, mode='production'), 'host', 'warning')
    assert 'the host is in development mode' in said
    assert 'not demo-other' in said


def test_the_data_directory(healthy, tmp_path):
    host = healthy()
    host.data.chmod(0o755)
    (host.data / 'admin-token').write_text('T' * 43)
    (host.data / 'admin-token').chmod(0o644)
    said = of(doctor(host, status=1), 'data directory', 'error')
    assert f'chmod 700 {host.data}' in said
    assert f'chmod 600 {host.data}/admin-token' in said
    (host.data / 'admin-token').unlink()
    host.data.rmdir()
    assert 'the first start creates it' in of(doctor(host, status=0), 'data directory', 'ok')
    host.data.write_text('a file')
    assert 'is not a directory' in of(doctor(host, status=1), 'data directory', 'error')
    host.data.unlink()
    host.data = tmp_path / 'absent/deep/data'
    assert 'cannot be used or created' in of(doctor(host, status=1), 'data directory', 'error')


def test_the_owner_of_the_data(healthy):
    host = healthy()
    os.chown(host.data, 12345, 12345)
    assert 'belongs to user 12345' in of(doctor(host), 'data directory', 'warning')


def test_a_full_disk_of_memory(healthy):
    host = healthy()
    options = ('--config', host.config_path, '--port', host.port, '--mode', 'production', '--data-dir', host.data)
    command = [str(word) for word in (BINARY, 'doctor', *options)]
    shell = f'mount -t tmpfs -o size=1m,mode=700 none {host.data} && exec "$@"'
    done = subprocess.run(['unshare', '--mount', 'sh', '-c', shell, 'sh', *command], capture_output=True, text=True, timeout=60, check=False,
                          cwd=host.folder)
    assert done.returncode == 1, done.stderr
    assert 'too few for the host' in done.stdout
    assert 'is on tmpfs, which is lost' in done.stdout


def test_certificates(healthy, tmp_path):
    make_certificate(tmp_path)
    (tmp_path / 'key.pem').chmod(0o600)
    tls = {'server': {'tls': {'certificate': str(tmp_path / 'cert.pem'), 'key': str(tmp_path / 'key.pem')}}}
    host = healthy(config={**RULES, **tls})
    assert re.search('ends in [12] days; renew it', of(doctor(host, status=0), 'certificate', 'warning'))
    long = ['openssl', 'req', '-x509', '-key', tmp_path / 'key.pem', '-days', '90', '-subj', '/CN=localhost', '-out', tmp_path / 'cert.pem']
    subprocess.run(long, check=True, capture_output=True)
    assert 'matches its key' in of(doctor(host, status=0), 'certificate', 'ok')
    (tmp_path / 'key.pem').chmod(0o644)
    assert 'chmod o=' in of(doctor(host, status=0), 'certificate', 'warning')
    with_clock(tmp_path, 100 * 86400)
    ahead = {'preload': moved_clock(), 'CLOCK_FILE': str(tmp_path / 'clock')}
    assert 'has expired; renew it' in of(doctor(host, status=1, **ahead), 'certificate', 'error')
    with_clock(tmp_path, -86400)
    assert 'not valid yet; check the clock' in of(doctor(host, status=1, **ahead), 'certificate', 'error')
    subprocess.run(['openssl', 'genrsa', '-out', tmp_path / 'key.pem', '2048'], check=True, capture_output=True)
    assert 'does not match' in of(doctor(host, status=1), 'certificate', 'error')
    (tmp_path / 'cert.pem').unlink()
    assert 'cert.pem' in ' '.join(one.message for one in doctor(host, status=1) if one.result == 'error')


def moved_clock():
    return compiled(ROOT / 'Tests/Support/moved_clock.c', ())


def with_clock(folder, seconds):
    (folder / 'clock').write_bytes(int(seconds).to_bytes(8, 'little', signed=True))


def test_the_clock_of_the_host(healthy, tmp_path):
    host = healthy(mode='development').start()
    with_clock(tmp_path, 30)
    ahead = {'preload': moved_clock(), 'CLOCK_FILE': str(tmp_path / 'clock')}
    assert "seconds behind this machine's" in of(doctor(host, status=0, **ahead), "host's clock", 'warning')
    with_clock(tmp_path, -3600)
    assert "ahead of this machine's" in of(doctor(host, status=1, **ahead), "host's clock", 'error')


KERNEL_CLOCK = '''
#include <sys/timex.h>
int adjtimex(struct timex *state) { state->status = STATUS; return STATUS & STA_UNSYNC ? TIME_ERROR : TIME_OK; }
'''


@pytest.mark.parametrize(('status', 'result', 'words'), [('STA_PLL', 'ok', 'is synchronised'), ('STA_UNSYNC', 'warning', 'install chrony')])
def test_the_clock_of_the_kernel(status, result, words, healthy, tmp_path):
    source = fake(tmp_path, 'clock.c', KERNEL_CLOCK)
    subprocess.run(['gcc', '-shared', '-fPIC', f'-DSTATUS={status}', source, '-o', tmp_path / 'clock.so'], check=True)
    assert words in of(doctor(healthy(), preload=str(tmp_path / 'clock.so')), 'clock', result)


def test_a_clock_of_another_year(healthy, tmp_path):
    with_clock(tmp_path, -int(time.time()) + 86400)
    said = of(doctor(healthy(), status=1, preload=moved_clock(), CLOCK_FILE=str(tmp_path / 'clock')), 'clock', 'error')
    assert 'years behind' in said


def test_descriptors(healthy):
    host = healthy()
    assert 'raise the hard limit' in of(doctor(host, limit=1000, status=0), 'open files', 'warning')
    assert 'at least 128 are needed' in of(doctor(host, limit=100, status=1), 'open files', 'error')


@pytest.mark.parametrize(('place', 'number', 'check', 'words'), [
    ('/proc/sys/fs/inotify/max_user_instances', 8, 'file watches', '8 inotify instances'),
    ('/proc/sys/fs/inotify/max_user_watches', 100, 'file watches', '100 inotify watches'),
    ('/proc/sys/net/core/somaxconn', 128, 'connections', 'sysctl net.core.somaxconn'),
])
def test_settings_of_the_kernel(place, number, check, words, healthy, tmp_path):
    file = fake(tmp_path, 'number', f'{number}\n')
    assert words in of(doctor(healthy(), binds={place: file}), check, 'warning')


@pytest.mark.parametrize(('code', 'words'), [('EMFILE', 'no inotify instance left'), ('ENOSPC', 'no inotify watch left')])
def test_no_watches_are_left(code, words, healthy, tmp_path):
    name = 'inotify_init1' if code == 'EMFILE' else 'inotify_add_watch'
    kind = 'int flags' if code == 'EMFILE' else 'int file, const char *path, unsigned mask'
    source = fake(tmp_path, 'watch.c', f'#include <errno.h>\nint {name}({kind}) {{ errno = {code}; return -1; }}\n')
    subprocess.run(['gcc', '-shared', '-fPIC', source, '-o', tmp_path / 'watch.so'], check=True)
    assert words in of(doctor(healthy(), status=1, preload=str(tmp_path / 'watch.so')), 'file watches', 'error')


def test_memory(healthy):
    host = healthy(config={**RULES, 'defaults': {'memory': '32GiB', 'cpu': 8}})
    said = doctor(host)
    total = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
    if total < 32 << 30:
        assert 'lower its memory' in of(said, 'memory', 'error')
    host = healthy(config={**RULES, 'defaults': {'memory': '1GiB', 'minInstances': 100}})
    if total < 100 << 30:
        assert 'lower memory or minInstances' in of(doctor(host), 'memory', 'warning')
    host = healthy(config={**RULES, 'server': {'memoryBytes': 1 << 40}})
    assert 'server.memoryBytes' in ' '.join(one.message for one in doctor(host, status=1) if one.result == 'error')


def test_the_kernel(healthy):
    host = healthy()
    assert 'there is no Landlock' in of(doctor(host, HEARTH_LANDLOCK_VERSION_MAX='0'), 'kernel', 'warning')
    assert 'cannot truncate' in of(doctor(host, HEARTH_LANDLOCK_VERSION_MAX='2'), 'kernel', 'warning')
    host = healthy(config={**RULES, 'workers': {'sandbox': False}})
    assert 'workers.sandbox is off' in of(doctor(host), 'kernel', 'warning')
    if os.geteuid() == 0:
        assert 'this is root' in of(doctor(host, mode='production'), 'kernel', 'warning')


def test_time_zones(healthy, tmp_path):
    (tmp_path / 'zones').mkdir()
    assert 'apt install tzdata' in of(doctor(healthy(), status=1, binds={'/usr/share/zoneinfo': tmp_path / 'zones'}), 'time zones', 'error')


def test_pitfalls_of_production(healthy):
    config = {**RULES, 'auth': {'signIn': {'password': True, 'phoneNumber': True}, 'testHooks': True}}
    host = healthy(config=config)
    (host.data / 'admin-token').write_text('short')
    (host.data / 'admin-token').chmod(0o600)
    (host.folder / '.secret.local').write_text('KEY=secret-value\n')
    (host.folder / '.secret.local').chmod(0o644)
    findings = doctor(host, '--host', '0.0.0.0', status=1)
    assert 'can be guessed' in of(findings, 'production', 'error')
    warnings = of(findings, 'production', 'warning')
    for words in ('without TLS', 'App Check is off', 'no mail can be sent', 'no text message can be sent', 'auth.testHooks'):
        assert words in warnings
    assert 'publicUrl' in of(findings, 'configuration', 'warning')
    assert '.secret.local' in of(findings, 'secrets', 'warning')
    assert 'secret-value' not in str(findings)
    assert 'short' not in of(findings, 'production', 'error').split()


def test_development_that_others_reach(healthy):
    host = healthy(mode='development')
    assert 'other machines reach this host' in of(doctor(host, '--host', '0.0.0.0'), 'port', 'warning')


def test_memory_only_in_production(healthy):
    host = healthy(config={'database': {'rules': 'rules.json', 'storage': 'memory'}})
    assert 'database.storage is memory' in of(doctor(host), 'production', 'warning')


def test_wrong_arguments(tmp_path):
    commands = Commands(None, tmp_path / 'commands')
    assert commands.run('doctor', '--port', '70000').status == 64


def test_core_dumps_that_go_elsewhere(healthy, tmp_path):
    host = healthy(config={**RULES, 'crashes': {'coreDumps': True}})
    pattern = fake(tmp_path, 'pattern', '|/usr/lib/systemd/systemd-coredump %P\n')
    assert 'sysctl kernel.core_pattern=core' in of(doctor(host, binds={'/proc/sys/kernel/core_pattern': pattern}), 'kernel', 'warning')
