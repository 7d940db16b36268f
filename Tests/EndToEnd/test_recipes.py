"""Every recipe of docs/writing-a-plugin.md is built in release mode, loaded and called: Foundation, URLSession and well-known packages.

One package serves all of them. Its first build takes minutes, most of them for AsyncHTTPClient; what was built stays under `.build`.
"""

import re
import subprocess

import pytest

from built_packages import built
from hearth import ROOT
from local_server import Handler, LocalServer

GUIDE = (ROOT / 'docs/writing-a-plugin.md').read_text()
RECIPES = {'Foundation': 'WithFoundation', 'URLSession': 'WithURLSession', 'AsyncHTTPClient': 'WithClient',
           'Configuration and metrics': 'WithSettings'}
ENTRY = '.plugin(name: "HearthEntryPoint", package: "hearth-sdk")'


def section(heading):
    return re.split(r'^#{2,3} ', GUIDE.split(f' {heading}\n', 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def swift(heading):
    return re.findall(r'^```swift\n(.*?)^```', section(heading), re.MULTILINE | re.DOTALL)


def package():
    """The `Package.swift` of the guide with a product for each recipe, and the packages that the guide adds."""
    guide = swift('A package')[0]
    head, _ = guide.split('let package', 1)
    added = [line for line in swift('Use other packages')[0].splitlines() if '.package(url:' in line]
    products, targets = [], []
    for heading, name in RECIPES.items():
        needed = ['.product(name: "HearthFunctions", package: "hearth-sdk")', *re.findall(r'`(\.product\([^`]*)`', section(heading))]
        products.append(f'.library(name: "{name}", type: .dynamic, targets: ["{name}"]),')
        targets.append(f'.target(name: "{name}", dependencies: [{", ".join(needed)}], swiftSettings: compiling, linkerSettings: linking, '
                       f'plugins: [{ENTRY}]),')
    return '\n'.join([head, 'let package = Package(', 'name: "recipes",', 'products: [', *products, '],', 'dependencies: [',
                      '.package(name: "hearth-sdk", path: "../hearth/SDK", traits: ["SwiftLog"]),', *added, '],', 'targets: [', *targets, '])\n'])


@pytest.fixture(scope='module')
def libraries():
    files = {f'Sources/{name}/{name}.swift': swift(heading)[0] for heading, name in RECIPES.items()}
    return built('recipes', {'Package.swift': package(), **files}, list(RECIPES.values()))


@pytest.fixture
def host(prepare, libraries):
    class Weather(Handler):
        def do_GET(self):
            body = f'rain in {self.path[1:]}'.encode()
            self.send_response(200)
            self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with LocalServer(Weather) as weather:
        host = prepare({name: {'library': str(path)} for name, path in libraries.items()})
        (host.folder / '.env').write_text(f'FORECAST_URL={weather.url}\nWEATHER_URL={weather.url}\nGREETING=Good day\n')
        yield host.start()


def test_the_guide_shows_what_init_writes():
    template = (ROOT / 'Sources/Command/hearth/Init/Templates/Package.swift.template').read_text()
    for name, value in {'PACKAGE': 'greeter', 'NAME': 'Greeter', 'SDK': 'hearth-sdk',
                        'DEPENDENCY': '.package(name: "hearth-sdk", path: "../hearth/SDK")'}.items():
        template = template.replace('{{' + name + '}}', value)
    assert swift('A package')[0] == template


@pytest.mark.timeout(3000)
def test_recipes_are_called(host):
    assert host.result('weekday', 0) == 'Thursday'
    assert host.result('forecast', 'Bern', timeout=30) == 'rain in Bern'
    assert host.result('weather', 'Basel', timeout=30) == 'rain in Basel'
    assert host.result('salute', 'Ada') == 'Good day, Ada!'


@pytest.mark.timeout(3000)
def test_libraries_are_whole_and_small(libraries):
    """No symbol is missing; what crash reports need is there, and compressed."""
    for library in libraries.values():
        assert 'undefined symbol' not in subprocess.run(['ldd', '-r', library], capture_output=True, text=True, check=True).stdout
        sections = subprocess.run(['readelf', '-SW', library], capture_output=True, text=True, check=True).stdout
        debugging = [line for line in sections.splitlines() if re.search(r'\.debug_(info|line|str)\b', line)]
        assert debugging
        assert all(re.search(r' C +\d+ +\d+ +\d+$', line.replace('MSC', 'C')) for line in debugging), sections
        assert '.symtab' in sections
