import Glibc
public import HearthFunctions
internal import HearthJSON
internal import Synchronization

/// The place where the functions under test run.
public struct TestTransport: Sendable, CustomStringConvertible {
    enum Kind: Sendable {
        case inMemory
        case host(HostSettings)
    }

    let kind: Kind

    /// In the test's own process, with a database and a messaging service in memory. A test takes milliseconds.
    public static let inMemory = TestTransport(kind: .inMemory)

    /// On a host of Hearth that is started for the test and ended after it. A test takes about a second.
    ///
    /// - Parameters:
    ///   - program: the path of the program `hearth`. Default: the variable `HEARTH`, else `hearth` on `PATH`.
    ///   - library: the path of the plugin's library. Default: the only library of the package, beside the program that runs the
    ///     tests, where `swift test` puts it.
    ///   - rules: the path of the database's rules. Default: `database.rules.json` in the current folder, where there is one.
    public static func host(program: String? = nil, library: String? = nil, rules: String? = nil) -> TestTransport {
        TestTransport(kind: .host(HostSettings(program: program, library: library, rules: rules)))
    }

    /// Both, where the variable `HEARTH` names the program `hearth`; else memory alone. For `@Test(arguments:)`.
    public static var everywhere: [TestTransport] {
        let isNamed = getenv("HEARTH").map { $0.pointee != 0 } ?? false
        return isNamed ? [.inMemory, .host()] : [.inMemory]
    }

    /// "in memory" or "on a host"
    public var description: String {
        switch kind {
        case .inMemory: "in memory"
        case .host: "on a host"
        }
    }
}

extension Functions {
    /// Runs a test of these functions. The same body works with each transport.
    ///
    ///     @Test(arguments: TestTransport.everywhere) func greets(_ transport: TestTransport) async throws {
    ///         try await functions.test(transport) { app in
    ///             let greeting = try await app.call("greet", ["name": "Ada"], as: Greeting.self)
    ///             #expect(greeting.text == "Hello, Ada!")
    ///         }
    ///     }
    ///
    /// Each test has an empty database. In the body, the global `database` is the database of the functions, with the rights of an
    /// administrator. Tests of one process run one after the other.
    ///
    /// - Parameters:
    ///   - project: the id of the project.
    ///   - environment: values of parameters.
    ///   - secrets: values of secrets: of each that a function lists, as a host needs them, too.
    /// - Throws: the errors of `body`; `TestFailure` where the functions cannot be started.
    @discardableResult
    public func test<R: Sendable>(
        _ transport: TestTransport = .inMemory, project: String = "demo-test", environment: [String: String] = [:],
        secrets: [String: String] = [:], _ body: (TestApp) async throws -> R
    ) async throws -> R {
        guard !TestGate.isInside else { throw TestFailure("A test of functions is started inside of another one.") }
        try requireSecrets(secrets)
        await TestGate.enter()
        defer { TestGate.leave() }
        return try await TestGate.$isInside.withValue(true) {
            switch transport.kind {
            case .inMemory:
                let variables = ScopedVariables(environment.merging(secrets) { $1 }.merging(["GCLOUD_PROJECT": project]) { own, _ in own })
                defer { variables.restore() }
                let backend = InMemoryBackend(try InMemoryHost(self, project: project))
                return try await run(body, on: backend) { await backend.host.stop() }
            case .host(let settings):
                let process = try await HostProcess.start(settings, project: project, environment: environment, secrets: secrets)
                let backend = HostBackend(process, project: project, manifest: manifest)
                ServiceBackends.current.withLock { $0 = HostDatabase(backend) }
                return try await run(body, on: backend) {
                    ServiceBackends.current.withLock { $0 = nil }
                    await process.stop()
                }
            }
        }
    }

    private func requireSecrets(_ given: [String: String]) throws {
        for (name, endpoint) in manifest["endpoints"]?.object ?? [:] {
            for secret in endpoint["secretEnvironmentVariables"]?.array ?? [] {
                guard let key = secret["key"]?.string, given[key] == nil else { continue }
                throw TestFailure("The function \(name) needs the secret \(key): give it with test(secrets:).")
            }
        }
    }

    private func run<R: Sendable>(
        _ body: (TestApp) async throws -> R, on backend: any TestBackend, thenStop stop: () async -> Void
    ) async throws -> R {
        do {
            let result = try await body(TestApp(backend, manifest: manifest))
            await stop()
            return result
        } catch {
            await stop()
            throw error
        }
    }
}

/// Environment variables that are set for the time of a test.
private struct ScopedVariables {
    private let previous: [(name: String, value: String?)]

    init(_ variables: [String: String]) {
        previous = variables.keys.map { ($0, getenv($0).map { String(cString: $0) }) }
        for (name, value) in variables { setenv(name, value, 1) }
    }

    func restore() {
        for (name, value) in previous {
            if let value { setenv(name, value, 1) } else { unsetenv(name) }
        }
    }
}
