import EventLoop
import Files
import FunctionWorker
import Glibc

/// A worker that waits for a debugger, and then gets all calls of its pool until the session ends. Belongs to the dispatcher's loop.
///
/// The session lives as long as its client renews it.
package final class DebugSession {
    package enum State: Equatable {
        /// The plugin is being loaded.
        case loading
        /// It is loaded, and no debugger is attached yet.
        case waiting
        /// It takes calls.
        case running
        case ended(String)
    }

    package let function: String
    package private(set) var state = State.loading
    /// The debugger's process id; 0 while none is attached.
    package private(set) var tracer: Int32 = 0
    package var pid: Int32 { worker.pid }
    package var plugin: String { worker.artifact.name }
    private let worker: Worker
    private let pool: WorkerPool
    private let loop: EventLoop
    private var timer: Timer?
    private var renewedMilliseconds: UInt64

    private static let lookMilliseconds: UInt64 = 100
    /// How long a client may be silent.
    private static let leaseMilliseconds: UInt64 = 10_000

    fileprivate init(_ function: String, worker: Worker, pool: WorkerPool) {
        self.function = function
        self.worker = worker
        self.pool = pool
        loop = pool.loop
        renewedMilliseconds = pool.loop.nowMilliseconds
        let timer = Timer(loop: loop) { [unowned self] in look() }
        timer.start(afterMilliseconds: Self.lookMilliseconds, repeatMilliseconds: Self.lookMilliseconds)
        self.timer = timer
    }

    package var hasEnded: Bool { if case .ended = state { true } else { false } }

    /// Keeps the session alive.
    package func renew() { renewedMilliseconds = loop.nowMilliseconds }

    /// Lets the worker take calls without a debugger.
    package func goOn() {
        guard state == .waiting else { return }
        state = .running
        pool.releaseDebugged(worker)
    }

    /// Ends the session and its worker.
    package func end(_ reason: String) {
        guard !hasEnded else { return }
        close(reason)
        worker.kill(reason: "debugging has ended")
    }

    func didLoad() {
        if state == .loading { state = .waiting }
        look()
    }

    /// Called when the worker has ended.
    func workerDidEnd(_ reason: String?) {
        close(reason.map { "the instance ended: \($0)" } ?? "the instance ended, because other versions serve now")
    }

    private func close(_ reason: String) {
        guard !hasEnded else { return }
        state = .ended(reason)
        timer = nil
    }

    private func look() {
        guard !hasEnded else { return }
        guard loop.nowMilliseconds < renewedMilliseconds + Self.leaseMilliseconds else { return end("its client has left") }
        tracer = Self.tracer(of: worker.pid)
        if tracer != 0 { goOn() }
    }

    /// The process that traces another one; 0 if there is none.
    private static func tracer(of pid: Int32) -> Int32 {
        guard let text = try? WholeFile.readText("/proc/\(pid)/status", sizeBytesMax: 64 * 1024),
            let start = text.firstRange(of: "TracerPid:")?.upperBound
        else { return 0 }
        return Int32(text[start...].drop { $0 == " " || $0 == "\t" }.prefix { $0.isNumber }) ?? 0
    }
}

extension WorkerPool {
    /// Starts a worker that waits for a debugger. The others end when they have answered their calls; until the session ends, calls wait for this
    /// worker, without deadlines.
    ///
    /// - Throws: `PluginRefusal` if that is not possible now.
    package func debug(_ function: String) throws(PluginRefusal) -> DebugSession {
        guard settings.isIsolated else {
            throw PluginRefusal("\(artifact.name) runs inside the host; attach to the host itself, process \(getpid())")
        }
        if let debugging { throw PluginRefusal("\(artifact.name) is being debugged already, as process \(debugging.pid)") }
        guard !isStopping, !isRetired else { throw PluginRefusal("another version of \(function) serves now; try again") }
        let worker = try dispatcher.launcher.start(artifact, settings: settings, pool: self, isDebugged: true)
        worker.startedNanoseconds = loop.nowNanoseconds
        adopt(worker)
        let session = DebugSession(function, worker: worker, pool: self)
        debugging = session
        for other in workers where other !== worker && other.state == .ready {
            other.enter(.draining)
            endIfUnused(other)
        }
        return session
    }

    /// Puts the debugged worker into service.
    func releaseDebugged(_ worker: Worker) {
        worker.isHeld = false
        worker.room.rests(since: loop.nowMilliseconds)
        worker.enter(.ready)
        workerHasRoom(worker)
    }

    /// Returns to usual workers, because the debugged one has ended.
    func endDebugging(_ reason: String?) {
        debugging?.workerDidEnd(reason)
        debugging = nil
        noteDeadlines()
    }
}
