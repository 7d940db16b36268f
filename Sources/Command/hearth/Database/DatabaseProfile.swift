import ArgumentParser
import CommandClient
import HearthJSON
import Glibc
import Synchronization

/// `hearth database:profile`: records the operations on a database and their durations.
struct DatabaseProfile: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "database:profile", abstract: "Records the operations on the database, and reports which paths take time.",
        discussion: """
            Ctrl-C ends it and shows the report. A path with more than 25 children shows them as one, $wildcard.

            Examples:
              hearth database:profile
              hearth database:profile --duration 60 --json
              hearth database:profile --raw > operations.ndjson
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("End after this many seconds.", valueName: "seconds"))
    var duration: Int?

    @Flag(help: "Print each operation as it ends, one JSON object a line, and no report.")
    var raw = false

    @Flag(name: .customLong("no-collapse"), help: "Show each path, even if it has many siblings.")
    var showsEach = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if let duration, duration < 1 { throw ValidationError("--duration must be at least 1") }
        if raw, connection.json { throw ValidationError("--raw and --json exclude each other: --raw prints each operation, --json the sums") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let recording = ProfileRecording(collapses: !showsEach, seconds: duration, printsEach: raw)
        let report = try recording.run(client, instance: database.instance)
        return raw ? Outcome() : Outcome(text: report.text, json: report.json)
    }
}

/// Receives the operations that a host reports, on its own thread, until it is stopped.
final class ProfileRecording: Sendable {
    private struct State {
        var report: ProfileReport
        var hasBegun = false
        var failure: ClientFailure?
    }

    private let state: Mutex<State>
    private let seconds: Int?
    private let printsEach: Bool

    /// - Parameters:
    ///   - seconds: the duration; nil for no limit.
    ///   - printsEach: whether to print every operation as it arrives.
    init(collapses: Bool, seconds: Int?, printsEach: Bool) {
        state = Mutex(State(report: ProfileReport(collapses: collapses)))
        self.seconds = seconds
        self.printsEach = printsEach
    }

    /// Records until the time is over, until Ctrl-C, or until the host ends.
    ///
    /// - Throws: the reason why the host does not report.
    func run(_ client: HostClient, instance: String?) throws(ClientFailure) -> ProfileReport {
        var signals = sigset_t()
        // The other thread sends the last signal when it has ended.
        for signal in [SIGINT, SIGTERM, SIGALRM, SIGUSR1] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        try startThread(client, instance)
        // The call is interrupted when a shell stops and resumes this program.
        while sigwaitinfo(&signals, nil) < 0 {}
        let state = state.withLock { $0 }
        if let failure = state.failure {
            guard state.hasBegun else { throw failure }
            Terminal.writeError("hearth: \(failure.message)")
        }
        return state.report
    }

    private func startThread(_ client: HostClient, _ instance: String?) throws(ClientFailure) {
        final class Work {
            let recording: ProfileRecording
            let client: HostClient
            let instance: String?
            init(_ recording: ProfileRecording, _ client: HostClient, _ instance: String?) {
                (self.recording, self.client, self.instance) = (recording, client, instance)
            }
        }
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(Work(self, client, instance)).toOpaque()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                work.recording.record(work.client, work.instance)
                kill(getpid(), SIGUSR1)
                return nil
            }, argument)
        guard result != 0 else { return }
        Unmanaged<Work>.fromOpaque(argument).release()
        throw ClientFailure(.invalidInput, "no thread can be started: \(String(cString: strerror(result)).lowercased())")
    }

    private func record(_ client: HostClient, _ instance: String?) {
        var failure = ClientFailure(.interrupted, "the host at \(client.url) has disconnected; the profile ends here")
        do throws(ClientFailure) {
            try client.profile(instance: instance, began: begin) { add($0) }
        } catch {
            failure = error
        }
        state.withLock { $0.failure = failure }
    }

    private func begin() {
        state.withLock { $0.hasBegun = true }
        Terminal.writeError("Profiling. Ctrl-C ends it.")
        if let seconds { alarm(UInt32(clamping: seconds)) }
    }

    private func add(_ operation: JSONValue) {
        state.withLock { $0.report.add(operation) }
        if printsEach { Terminal.write(operation.description) }
    }
}

extension ProfileReport {
    /// The form for people.
    var text: String {
        var lines = ["\(count) operations in \(Stopwatch.text(Double(milliseconds) / 1000))"]
        if lost > 0 { lines.append("\(lost) more came too fast to be reported.") }
        if clients != (0, 0) { lines.append("\(clients.come) streams began, \(clients.gone) ended.") }
        for (name, sums) in tables where !sums.isEmpty {
            lines += ["", name.prefix(1).uppercased() + name.dropFirst()]
            let rows = sums.sorted.map { path, sum in
                [
                    PrintableText.line(Self.text(path)), "\(sum.count)", Self.text(sum.averageMillis), sum.averageWaitMillis.map(Self.text) ?? "",
                    "\(sum.denied)", ByteCount.text(sum.bytes),
                ]
            }
            lines += TextTable.lines([["PATH", "COUNT", "TIME", "WAIT", "DENIED", "BYTES"]] + rows, indent: "  ")
        }
        guard !unindexed.isEmpty else { return lines.joined(separator: "\n") }
        lines += ["", "Queries without an index"]
        let rows = withoutIndex.map { [PrintableText.line(Self.text($0.path)), PrintableText.line($0.order), "\($0.count)"] }
        lines += TextTable.lines([["PATH", "INDEX", "COUNT"]] + rows, indent: "  ")
        return lines.joined(separator: "\n")
    }

    /// The form for programs.
    var json: JSONValue {
        var result: JSONObject = [
            "operations": .int(Int64(count)), "lost": .int(Int64(lost)), "totalTime": .int(Int64(milliseconds)),
            "connects": .int(Int64(clients.come)), "disconnects": .int(Int64(clients.gone)),
        ]
        for (name, sums) in tables { result[name] = .array(sums.sorted.map { .object(Self.json($0.path, $0.sum)) }) }
        result["unindexed"] = .array(
            withoutIndex.map { .object(["path": .string(Self.text($0.path)), "index": .string($0.order), "count": .int(Int64($0.count))]) })
        return .object(result)
    }

    private var tables: [(name: String, sums: PlaceSums)] { [("reads", reads), ("writes", writes), ("broadcasts", broadcasts)] }

    private var withoutIndex: [(path: [String], order: String, count: Int)] {
        unindexed.sorted { $0.key < $1.key }.flatMap { order, sums in
            sums.sorted.map { (path: $0.path, order: order, count: $0.sum.count) }
        }
    }

    private static func json(_ path: [String], _ sum: PlaceSums.Sum) -> JSONObject {
        var row: JSONObject = [
            "path": .string(text(path)), "count": .int(Int64(sum.count)), "millis": .double(sum.averageMillis),
            "denied": .int(Int64(sum.denied)), "bytes": .int(Int64(sum.bytes)),
        ]
        if let wait = sum.averageWaitMillis { row["pendingTime"] = .double(wait) }
        return row
    }

    private static func text(_ path: [String]) -> String { "/" + path.joined(separator: "/") }

    private static func text(_ milliseconds: Double) -> String {
        let hundredths = Int((milliseconds * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) ms"
    }
}
