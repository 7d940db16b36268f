import CommandClient
import Glibc
import HearthJSON
import Synchronization

/// Takes in what a host tells of a database, on a thread of its own, until this one is asked to end.
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
    ///   - seconds: how long it takes; nil for as long as nobody ends it.
    ///   - printsEach: whether every operation is printed as it comes.
    init(collapses: Bool, seconds: Int?, printsEach: Bool) {
        state = Mutex(State(report: ProfileReport(collapses: collapses)))
        self.seconds = seconds
        self.printsEach = printsEach
    }

    /// Records until the time is over, or Ctrl-C, or until the host goes.
    ///
    /// - Throws: why the host does not tell.
    func run(_ client: HostClient, instance: String?) throws(ClientFailure) -> ProfileReport {
        var signals = sigset_t()
        // The last is how the other thread says that it has ended.
        for signal in [SIGINT, SIGTERM, SIGALRM, SIGUSR1] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        try startThread(client, instance)
        // It is interrupted where a shell stops this program and has it go on.
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
        var failure = ClientFailure(.interrupted, "the host at \(client.url) has gone; the profile ends there")
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
