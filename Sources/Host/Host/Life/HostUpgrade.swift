import Accounts
import AppCheck
import AdminProtocol
import CLinux
import EventDelivery
import EventLoop
import FunctionDispatch
import FunctionWorker
import Glibc
import HearthJSON
import HostCore
import Logging
import Messaging
import RealtimeDatabase

/// Hands this host over to a new process of the installed program, while requests arrive.
///
/// Steps of an upgrade:
/// 1. The new process loads configuration, plugins and workers (``Phase/preparing``).
/// 2. This process starts no more requests, and waits a short time for those that have started (``Phase/holding``).
/// 3. The databases are closed. A restore replaces the data now. The new process opens the databases (``Phase/switching``).
/// 4. The new process serves, and gets the connections. Requests that still run are finished here, and their service calls are answered by
///    the new process (``Phase/serving``).
///
/// A failure before step 4 leaves this host unchanged. docs/decisions/host-upgrade.md has the reasons. Belongs to the home loop.
final class HostUpgrade {
    enum Phase: Int {
        case preparing, holding, switching, serving
        /// Failed. The host continues as before.
        case over
    }

    /// An event that the steps wait for.
    private enum Event {
        /// The new process is ready to serve; its message.
        case prepared([UInt8])
        /// The new process serves.
        case serving
        /// The new process has ended.
        case exited
        /// The upgrade is cancelled because of a time limit or the stop of the host; the reason.
        case givenUp(String)
    }

    private(set) var phase = Phase.preparing
    let host: HearthHost
    private let request: UpgradeRequest
    private var process: ChildProcess?
    private(set) var channel: MessageChannel?
    private let relay: ServiceRelay
    private var timer: Timer?
    private var events: [Event] = []
    private var waiter: CheckedContinuation<Void, Never>?
    private var isOver = false
    private var overWaiters: [CheckedContinuation<Void, Never>] = []
    /// The reason why the new process refused to take over or has ended.
    private var refusal: String?
    /// Whether the new process may have the databases open. If so, they are opened here only after its end.
    private var mayHaveDatabases = false
    /// The end of the new process before it served.
    private var ending: ChildProcess.Ending?
    private let begin = EventLoop.monotonicNanoseconds()
    private var holdBegin: UInt64 = 0
    private var gapBegin: UInt64 = 0
    /// For a restore: the folder with the previous data.
    private(set) var kept = ""

    /// How long requests that have started may go on before the databases are closed.
    private static let holdMilliseconds: UInt64 = 300
    /// The time limit for the new process to open the databases.
    private static let switchMilliseconds: UInt64 = 3000

    init(_ host: HearthHost, _ request: UpgradeRequest) {
        self.host = host
        self.request = request
        relay = ServiceRelay(loop: host.home)
    }

    /// The id of the new process.
    var pid: Int32 { process?.pid ?? 0 }

    /// Whether everything for the new process has been sent.
    var isFlushed: Bool { channel?.isFlushed ?? true }

    /// Changes the phase: to the next one, or to `over` if the new host does not serve yet.
    private func enter(_ next: Phase) {
        precondition(phase.rawValue + 1 == next.rawValue || (next == .over && phase.rawValue < Phase.serving.rawValue), "\(phase) to \(next)")
        phase = next
    }

    /// Carries out the upgrade.
    ///
    /// - Throws: `UpgradeFailure`, when this host has returned to its previous state.
    func run() async throws(UpgradeFailure) -> UpgradeReport {
        defer {
            isOver = true
            for waiter in overWaiters { waiter.resume() }
            overWaiters = []
        }
        do throws(UpgradeFailure) {
            try await prepare()
            try await hold()
            try await changeHands()
            return commit()
        } catch {
            await goBack(error)
            throw error
        }
    }

    /// Cancels the upgrade, if that is still possible. Returns when the upgrade has failed or succeeded.
    func cancel(_ reason: String) async {
        guard !isOver else { return }
        post(.givenUp(reason))
        await withCheckedContinuation { continuation in
            if isOver { continuation.resume() } else { overWaiters.append(continuation) }
        }
    }

    // MARK: Events

    private func post(_ event: Event) {
        events.append(event)
        waiter?.resume()
        waiter = nil
    }

    /// Waits for the next event that is not a failure.
    private func nextEvent() async throws(UpgradeFailure) -> Event {
        await waitForEvent()
        let event = events.removeFirst()
        if let failure = failure(event) { throw failure }
        return event
    }

    private func waitForEvent() async {
        // Checked inside of the closure, because an event may arrive before it runs.
        await withCheckedContinuation { continuation in
            if events.isEmpty { waiter = continuation } else { continuation.resume() }
        }
    }

    /// Throws if something has failed during a step that does not wait for events.
    private func checkFailures() throws(UpgradeFailure) {
        for event in events { if let failure = failure(event) { throw failure } }
    }

    private func failure(_ event: Event) -> UpgradeFailure? {
        switch event {
        case .exited: UpgradeFailure(description: refusal ?? "the new host ended before it served; its log says more")
        case .givenUp(let reason): UpgradeFailure(description: reason)
        case .prepared, .serving: nil
        }
    }

    private func limit(milliseconds: UInt64, _ reason: String) {
        timer = Timer(loop: host.home) { [unowned self] in post(.givenUp(reason)) }
        timer?.start(afterMilliseconds: milliseconds)
    }

    private func receive(_ message: MessageChannel.Message?) {
        // The end of the process is reported separately. If only the channel ends, the process is broken and is killed.
        guard let message, let first = message.bytes.first else {
            if phase == .serving || isOver { relay.end() } else { process?.kill(SIGKILL) }
            return
        }
        MessageChannel.closeAll(message.descriptors)
        switch UpgradeMessage(rawValue: first) {
        case .prepared?: post(.prepared(Array(message.bytes.dropFirst())))
        case .failed?: refusal = refusal ?? String(decoding: message.bytes.dropFirst(), as: UTF8.self)
        case .serving?: post(.serving)
        case .answer?: if let part = RelayPart(message.bytes.dropFirst()) { relay.receive(part) }
        default: break
        }
    }

    private func didExit(_ ending: ChildProcess.Ending) {
        self.ending = ending
        guard phase != .serving else { return host.successorDidEnd(ending) }
        // The process could not remove the control groups of its workers.
        host.dispatcher.removeAbandonedGroups()
        let end = ending.signal != 0 ? "was ended by signal \(ending.signal)" : "ended with status \(ending.status)"
        refusal = refusal ?? "the new host \(end) before it served; its log says more"
        post(.exited)
    }

    // MARK: Preparing

    private func prepare() async throws(UpgradeFailure) {
        guard host.database.database.canChangeHands else {
            throw UpgradeFailure(description: "the databases are in memory and would be lost; restart the host instead")
        }
        host.options.serviceManager?.notify(
            "RELOADING=1", "MONOTONIC_USEC=\(EventLoop.monotonicNanoseconds() / 1000)", "STATUS=Upgrading: the new host is starting")
        host.log.notice("upgrading: the new host is starting", metadata: ["program": "\(host.executable)"])
        try await restore { (stage, data) throws(BackupFailure) in try RestoreSwitch.addArtifacts(stage: stage, data: data) }
        try checkFailures()
        do throws(LoopError) {
            try startProcess()
        } catch {
            throw UpgradeFailure(description: "the new host cannot be started: \(error)")
        }
        limit(
            milliseconds: UInt64(request.timeoutSeconds) * 1000,
            "the new host was not ready within \(request.timeoutSeconds) s; its log says how far it came")
        while true {
            guard case .prepared(let bytes) = try await nextEvent() else { continue }
            return try checkRefusals(bytes)
        }
    }

    private func startProcess() throws(LoopError) {
        let (own, other) = try MessageChannel.pair()
        defer { Glibc.close(other) }
        let channel = try MessageChannel(loop: host.home, adopting: own)
        channel.received = { [weak self] in self?.receive($0) }
        self.channel = channel
        let sockets = host.shards.flatMap(\.sockets)
        channel.send(UpgradeMessage.start.bytes(startMessage()), descriptors: sockets.map(\.descriptor))
        let process = try ChildProcess(
            loop: host.home,
            ChildProcess.Command(
                arguments: [host.executable] + CommandLine.arguments.dropFirst(), environment: environment(), directory: nil,
                descriptors: [.inherit(0), .inherit(1), .inherit(2), .inherit(other), .inherit(host.data.lock.descriptor)],
                leadsSession: false))
        process.exited = { [weak self] in self?.didExit($0) }
        self.process = process
    }

    private func startMessage() -> JSONValue {
        let workers = JSONObject(host.readyWorkers().map { ($0.key, JSONValue.int(Int64($0.value))) })
        var message: JSONObject = ["version": .int(Int64(TakeoverStart.version)), "workers": .object(workers)]
        if let restore = request.restore { message["deployed"] = .string("\(restore.folder)/deployed.json") }
        return .object(message)
    }

    private func environment() -> [String] {
        var found: [String] = []
        var next = linux_environment()
        while let entry = next?.pointee {
            found.append(String(cString: entry))
            next = next?.advanced(by: 1)
        }
        return found + (host.options.serviceManager?.environment ?? []) + ["\(TakeoverStart.variable)=3", DataDirectoryLock.entry(number: 4)]
    }

    /// Checks that the new host would serve what this one serves.
    private func checkRefusals(_ bytes: [UInt8]) throws(UpgradeFailure) {
        let said = (try? JSONValue(parsing: bytes)) ?? .null
        let own = Set(host.refusals.map(\.description))
        let refusals = (said["refusals"]?.array ?? []).compactMap(\.string).filter { !own.contains($0) }
        if let first = refusals.first { throw UpgradeFailure(description: "the new host would leave out what this one serves: \(first)") }
    }

    // MARK: Switching

    /// Starts no more requests, and waits a short time for those that have started.
    private func hold() async throws(UpgradeFailure) {
        enter(.holding)
        timer = nil
        holdBegin = EventLoop.monotonicNanoseconds()
        host.delivery.stop()
        host.stopEngines()
        for shard in host.shards { shard.hold() }
        while (EventLoop.monotonicNanoseconds() - holdBegin) / 1_000_000 < Self.holdMilliseconds {
            let counts = await host.home.concurrently(host.shards) { shard in await shard.busyCount() }
            try checkFailures()
            // The request for the upgrade itself is answered only at its end.
            if counts.reduce(host.delivery.runningCount, +) <= request.waitingRequests { return }
            await host.home.sleep(milliseconds: 2)
        }
        try checkFailures()
    }

    private func changeHands() async throws(UpgradeFailure) {
        enter(.switching)
        gapBegin = EventLoop.monotonicNanoseconds()
        host.dispatcher.services.successor = relay
        limit(milliseconds: Self.switchMilliseconds, "the new host did not open the databases within \(Self.switchMilliseconds) ms")
        // Results of functions that still work are for the new host from now on.
        let running = host.delivery.attempts.handOver()
        await withCheckedContinuation { continuation in host.delivery.finish { continuation.resume() } }
        await closeStores()
        try checkFailures()
        // No process has the databases open.
        let place = try await restore { (stage, data) throws(BackupFailure) in try RestoreSwitch.perform(stage: stage, data: data) }
        if let place { kept = place }
        try checkFailures()
        mayHaveDatabases = true
        // A restored outbox has other events.
        if request.restore == nil { sendRunning(running) }
        channel?.send(UpgradeMessage.take.bytes)
        while true {
            if case .serving = try await nextEvent() { return }
        }
    }

    /// Closes everything that the new process opens.
    private func closeStores() async {
        await withCheckedContinuation { continuation in host.database.database.suspend(on: host.home) { continuation.resume() } }
        await withCheckedContinuation { continuation in host.messaging.suspend { continuation.resume() } }
        await withCheckedContinuation { continuation in host.accounts.suspend { continuation.resume() } }
        await withCheckedContinuation { continuation in host.appCheck.suspend { continuation.resume() } }
        await host.suspendEngineStores()
    }

    /// Works on the files of a restore, on the thread pool.
    ///
    /// - Returns: nil if this upgrade restores nothing.
    private func restore<Value: Sendable>(
        _ work: @escaping @Sendable (_ stage: String, _ data: String) throws(BackupFailure) -> Value
    ) async throws(UpgradeFailure) -> Value? {
        guard let stage = request.restore?.folder else { return nil }
        do throws(BackupFailure) {
            return try await host.home.offload { [data = host.data.path] () throws(BackupFailure) in try work(stage, data) }
        } catch {
            throw UpgradeFailure(description: error.description)
        }
    }

    /// Passes everything to the new process, which serves now. This cannot be undone.
    private func commit() -> UpgradeReport {
        enter(.serving)
        timer = nil
        let now = EventLoop.monotonicNanoseconds()
        let gap = Int((now - gapBegin) / 1_000_000)
        host.options.serviceManager?.notify("MAINPID=\(pid)")
        channel?.send(UpgradeMessage.commit.bytes)
        if let channel {
            relay.open(channel)
            sendResults(through: channel)
        }
        if let ending { host.successorDidEnd(ending) }
        host.release { [self] transfer in
            channel?.send(transfer.bytes, descriptors: [transfer.descriptor])
            Glibc.close(transfer.descriptor)
        }
        let held = Int((EventLoop.monotonicNanoseconds() - holdBegin) / 1_000_000)
        let total = Int((now - begin) / 1_000_000)
        host.log.notice(
            "upgraded: the new process serves; this one finishes the requests that have started",
            metadata: ["process": "\(pid)", "heldMilliseconds": "\(held)", "gapMilliseconds": "\(gap)"])
        return UpgradeReport(pid: pid, milliseconds: total, heldMilliseconds: held, gapMilliseconds: gap)
    }

    // MARK: Failing

    /// Returns to the previous state, and serves.
    private func goBack(_ failure: UpgradeFailure) async {
        let reached = phase
        enter(.over)
        timer = nil
        process?.kill(SIGKILL)
        while mayHaveDatabases, ending == nil {
            events = []
            await waitForEvent()
        }
        channel?.close()
        if !kept.isEmpty { await host.home.offload { [kept, data = host.data.path] in RestoreSwitch.undo(kept: kept, data: data) } }
        if reached == .switching {
            host.database.database.resume()
            host.messaging.resume()
            host.accounts.resume()
            host.appCheck.resume()
            host.resumeEngineStores()
        }
        if reached == .switching || reached == .holding {
            host.services.successor = nil
            for (call, completion) in relay.takeWaiting() { host.services.handle(call, completion: completion) }
            host.delivery.resume()
            if reached == .holding {
                host.database.database.announcePending()
                host.accounts.announcePending()
                host.announcePendingOfEngines()
            }
            host.resumeEngines()
            host.database.openWaiting()
            host.endHold()
        }
        host.log.error("the host was not upgraded and goes on as before", metadata: ["reason": "\(failure)"])
        host.options.serviceManager?.notify("READY=1", "STATUS=Serving; the last upgrade failed: \(failure)")
    }
}

/// The parameters of an upgrade.
struct UpgradeRequest {
    /// The time limit for the new host to get ready.
    var timeoutSeconds = 60
    /// The number of requests that wait for the end of the upgrade.
    var waitingRequests = 0
    /// For a restore: the data that replaces the present data.
    var restore: RestoreStage?
}

/// The reason why an upgrade failed: a sentence. The host continues as before.
struct UpgradeFailure: Error, Sendable, CustomStringConvertible {
    let description: String
}
