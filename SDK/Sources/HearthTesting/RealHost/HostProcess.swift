import Glibc
internal import HearthJSON

/// The settings of a host for tests.
struct HostSettings: Sendable {
    var program: String?
    var library: String?
    var rules: String?
}

/// A host that runs for one test: `hearth exec` with a command that lasts until its standard input ends. So the host ends with this
/// process, however that ends.
struct HostProcess: Sendable {
    let client: WebClient
    private let process: pid_t
    private let input: Int32
    private let output: Int32
    private let folder: String

    private static let files = ["functions.json", ".env", ".secret.local", "host.log"]

    /// Starts a host with the library of the functions, and waits until it serves.
    static func start(
        _ settings: HostSettings, project: String, environment: [String: String], secrets: [String: String]
    ) async throws -> HostProcess {
        let program = try program(settings.program)
        let library = try settings.library ?? builtLibrary()
        let name = library.split(separator: "/").last.map { $0.dropFirst(3).dropLast(3) } ?? "Functions"
        var configuration: JSONObject = ["project": .string(project), "plugins": [String(name): ["library": .string(try absolute(library))]]]
        let rules = settings.rules ?? (access("database.rules.json", R_OK) == 0 ? "database.rules.json" : nil)
        if let rules { configuration["database"] = ["rules": .string(try absolute(rules))] }
        let folder = try temporaryFolder()
        do {
            try write(JSONValue.object(configuration).serialized(), to: "\(folder)/functions.json")
            try write(variables(environment), to: "\(folder)/.env")
            try write(variables(secrets), to: "\(folder)/.secret.local")
            return try await start(program, in: folder)
        } catch {
            remove(folder)
            throw error
        }
    }

    private static func start(_ program: String, in folder: String) async throws -> HostProcess {
        let arguments = [
            program, "exec", "--config", "\(folder)/functions.json", "--log", "\(folder)/host.log", "--", "/bin/sh", "-c",
            "echo \"$HEARTH_URL\"; exec cat > /dev/null",
        ]
        let child = try SpawnedChild(arguments)
        let line = try await BlockingThread.run { child.readLine() }
        guard let port = line.split(separator: ":").last.flatMap({ UInt16($0.filter(\.isNumber)) }) else {
            close(child.input)
            close(child.output)
            try await BlockingThread.run { child.wait() }
            throw TestFailure("The host did not start:\n\(text(of: "\(folder)/host.log"))")
        }
        return HostProcess(client: WebClient(port: port), process: child.process, input: child.input, output: child.output, folder: folder)
    }

    /// Ends the host and removes its files.
    func stop() async {
        close(input)
        close(output)
        let process = process
        _ = try? await BlockingThread.run { waitpid(process, nil, 0) }
        Self.remove(folder)
    }

    // MARK: Files

    /// The path of the program `hearth`.
    private static func program(_ given: String?) throws -> String {
        let variable = getenv("HEARTH").map { String(cString: $0) }
        if let named = given ?? variable {
            guard access(named, X_OK) == 0 else { throw TestFailure("\(named) is not a program that can be run; HEARTH names the program hearth.") }
            return named
        }
        let folders = getenv("PATH").map { String(cString: $0).split(separator: ":") } ?? []
        guard let found = folders.map({ (folder) -> String in "\(folder)/hearth" }).first(where: { access($0, X_OK) == 0 }) else {
            throw TestFailure("The program hearth is not on PATH; name it with HEARTH.")
        }
        return found
    }

    /// The library of the package under test: `swift test` builds it beside the program that runs the tests.
    private static func builtLibrary() throws -> String {
        var path = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &path, path.count)
        let own = String(decoding: path.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The test program of XCTest is the library of the tests itself; its folder stands among the arguments then.
        let candidates = [own] + CommandLine.arguments
        for candidate in candidates {
            guard let slash = candidate.lastIndex(of: "/") else { continue }
            let folder = String(candidate[..<slash])
            let libraries = names(in: folder).filter { $0.hasPrefix("lib") && $0.hasSuffix(".so") && !$0.hasPrefix("libTesting") }
            if libraries.count == 1 { return "\(folder)/\(libraries[0])" }
            if libraries.count > 1 {
                throw TestFailure("\(folder) has several libraries: \(libraries.sorted().joined(separator: ", ")). Name one with .host(library:).")
            }
        }
        throw TestFailure("There is no library beside \(own). Declare a product of type .dynamic, or name a library with .host(library:).")
    }

    private static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
            names.append(name)
        }
        return names
    }

    private static func absolute(_ path: String) throws -> String {
        guard let resolved = realpath(path, nil) else { throw TestFailure("\(path) cannot be opened: \(String(cString: strerror(errno)))") }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func temporaryFolder() throws -> String {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/hearth-test-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw TestFailure("No folder can be made in \(parent): \(String(cString: strerror(errno)))") }
        return String(cString: made)
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw TestFailure("\(path) cannot be written: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        guard bytes.withUnsafeBytes({ Glibc.write(descriptor, $0.baseAddress, $0.count) }) == bytes.count else {
            throw TestFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
    }

    /// Lines of an environment file. JSON's quotes and escapes are those of such files.
    private static func variables(_ values: [String: String]) -> [UInt8] {
        Array(values.sorted { $0.key < $1.key }.map { "\($0.key)=\(JSONValue.string($0.value))\n" }.joined().utf8)
    }

    private static func text(of path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }

    private static func remove(_ folder: String) {
        for file in files { unlink("\(folder)/\(file)") }
        rmdir(folder)
    }
}

/// A child process with pipes to its standard input and from its standard output.
private struct SpawnedChild: Sendable {
    let process: pid_t
    let input: Int32
    let output: Int32

    init(_ arguments: [String]) throws {
        var toChild: [Int32] = [-1, -1], fromChild: [Int32] = [-1, -1]
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw TestFailure("A pipe cannot be made: \(String(cString: strerror(errno)))") }
        for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        let words = arguments.map { strdup($0) } + [nil]
        let variables = Self.environment().map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        var process = pid_t()
        let code = posix_spawn(&process, arguments[0], &actions, nil, words, variables)
        close(toChild[0])
        close(fromChild[1])
        guard code == 0 else {
            close(toChild[1])
            close(fromChild[0])
            throw TestFailure("\(arguments[0]) cannot be started: \(String(cString: strerror(code)))")
        }
        (self.process, input, output) = (process, toChild[1], fromChild[0])
    }

    /// The variables that this process was started with.
    private static func environment() -> [String] {
        guard let file = fopen("/proc/self/environ", "r") else { return [] }
        defer { fclose(file) }
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { all += piece[..<count] }
        return all.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The first line of the output; empty where it ends before.
    func readLine() -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        return byte == UInt8(ascii: "\n") ? String(decoding: line, as: UTF8.self) : ""
    }

    func wait() { waitpid(process, nil, 0) }
}
