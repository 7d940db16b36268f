"""Edit to served: a package with one plugin, edited while `hearth serve --watch` serves it, and edited with the compiler alone."""

import contextlib
import http.client
import json
import re
import shutil
import statistics
import subprocess
import time
from pathlib import Path

from harness.paths import BUILD, PROJECT

FOLDER = BUILD / "reload"
PORT = 18990
SERVED_SECONDS_MAX = 300
PACKAGE = """// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "reload", products: [.library(name: "Greeter", type: .dynamic, targets: ["Greeter"])],
    dependencies: [.package(name: "hearth-sdk", path: "%s/SDK")],
    targets: [
        .target(
            name: "Greeter", dependencies: [.product(name: "HearthFunctions", package: "hearth-sdk")],
            linkerSettings: [.unsafeFlags(["-static-stdlib", "-use-ld=lld"], .when(configuration: .release))])
    ])
"""
SOURCE = """import HearthFunctions

struct Person: Decodable {
    var name: String
}

let functions = Functions {
    OnCall("greet") { (request: CallableRequest<Person>) in
        "%s, \\(request.data.name)!"
    }
}

@c(hearth_plugin_entry)
public func entry(_ host: UnsafeRawPointer) -> UnsafeRawPointer? { functions.attach(to: host) }
"""


def write(word):
    (FOLDER / "Sources/Greeter/Greeter.swift").write_text(SOURCE % word)


def prepare(configuration):
    (FOLDER / "Sources/Greeter").mkdir(parents=True, exist_ok=True)
    (FOLDER / "Package.swift").write_text(PACKAGE % PROJECT)
    shutil.copy(PROJECT / "Package.resolved", FOLDER / "Package.resolved")
    settings = {"project": "demo-hearth", "plugins": {"Greeter": {"product": "Greeter"}}, "watch": {"configuration": configuration}}
    (FOLDER / "functions.json").write_text(json.dumps(settings))
    write("Hello")
    subprocess.run(["swift", "build", "-c", configuration, "--product", "Greeter"], cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)


def greeting():
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException, ValueError):
        body = json.dumps({"data": {"name": "you"}})
        connection.request("POST", "/demo-hearth/us-central1/greet", body, {"Content-Type": "application/json"})
        return json.loads(connection.getresponse().read()).get("result")
    return None


def until_served(word):
    """The time until a call is answered with this word."""
    start = time.monotonic()
    while greeting() != f"{word}, you!":
        if time.monotonic() - start > SERVED_SECONDS_MAX:
            raise SystemExit(f"{word} was not served within {SERVED_SECONDS_MAX} s; see {FOLDER / 'host.log'}")
        time.sleep(0.002)
    return time.monotonic() - start


@contextlib.contextmanager
def host(program):
    command = [program, "serve", "--watch", "--port", str(PORT)]
    with open(FOLDER / "host.log", "wb") as log:
        process = subprocess.Popen(command, cwd=FOLDER, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def builds():
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
    with contextlib.closing(connection):
        connection.request("GET", "/_/api/builds", headers={"Authorization": "Bearer owner"})
        return json.loads(connection.getresponse().read())["builds"]


def watched(program, words):
    """The times from a save to the first answer that shows it, and what the host says of each build."""
    times, said = [], []
    with host(program):
        # The first build makes sure of what is there, and the second edit is the first that is measured.
        for word in ("Warm", "Warmer"):
            while greeting() is None:
                time.sleep(0.05)
            time.sleep(0.5)
            write(word)
            until_served(word)
        for word in words:
            time.sleep(0.5)
            write(word)
            times.append(until_served(word))
            time.sleep(0.1)
            said += [build for build in builds() if build["plugin"] == "Greeter"]
    return times, said


def commands(configuration):
    """The compiler's and the linker's commands of the package's own plan."""
    plan = (FOLDER / f".build/{configuration}.yaml").read_text()
    found = []
    for name in (r'"C\.Greeter-[^"]*\.module"', r'"[^"]*/Greeter\.swiftmodule\.o"', r'"C\.Greeter-[^"]*\.dylib"'):
        match = re.search(rf"^  {name}:\n(?:    .*\n)*?    args: (\[.*\])\n", plan, re.MULTILINE)
        if match:
            found.append(json.loads(match[1]))
    return found


def compiled(configuration, words):
    """The times of the same edits with nothing but these commands."""
    times = []
    for word in words:
        time.sleep(0.5)
        write(word)
        start = time.monotonic()
        for command in commands(configuration):
            subprocess.run(command, cwd=FOLDER, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.monotonic() - start)
    return times


def main(parser):
    parser.add_argument("--configuration", choices=["release", "debug"], default="release")
    parser.add_argument("--rounds", type=int, default=3, help="each with five edits of either kind (default 3)")
    parser.add_argument("--program", type=Path, default=PROJECT / ".build/release/hearth", help="the hearth to measure")
    options = parser.parse_args()
    prepare(options.configuration)
    served, compiler, said = [], [], []
    for round_number in range(options.rounds):
        words = [f"Round{round_number}Edit{edit}" for edit in range(5)]
        times, builds_of_round = watched(options.program, words)
        served += times
        said += builds_of_round
        compiler += compiled(options.configuration, [f"{word}Alone" for word in words])
    rows = {"edit to served": served, "compiler and linker alone": compiler, "build, as the host saw it":
            [build["buildMilliseconds"] / 1000 for build in said], "switch": [build["switchMilliseconds"] / 1000 for build in said]}
    for name, times in rows.items():
        print(f"{name:28} median {1000 * statistics.median(times):6.0f} ms   from {1000 * min(times):.0f} to {1000 * max(times):.0f}")
    direct = sum(build["direct"] for build in said)
    print(f"{options.configuration}; {len(served)} edits, {direct} without the package manager")
    over = 1000 * (statistics.median(served) - statistics.median(compiler))
    print(f"over the compiler's own time: {over:.0f} ms")
    return 0
