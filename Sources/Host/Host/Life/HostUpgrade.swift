import Administration
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

/// Hands this host over to a new process of the program that is installed now, while requests come in.
///
/// The new process gets ready first: configuration, plugins, workers. Then no more requests are begun here, those that have begun get a
/// moment to end, the databases are closed, the new process opens them and serves, and the connections are passed on. What still runs
/// then goes on here; its service calls are answered over there. Whatever fails before the new process serves leaves this host as it was.
/// docs/decisions/host-upgrade.md has the reasons. Belongs to the home loop.
final class HostUpgrade {
    enum Phase {
        case preparing, holding, switching
        /// Given up while the new process may have the databases: its end is waited for.
        case ending
        case serving, over
    }

    private(set) var phase = Phase.preparing
    let host: HearthHost
    private let request: UpgradeRequest
    private var completion: ((Result<UpgradeReport, UpgradeFailure>) -> Void)?
    private var process: ChildProcess?
    private var channel: MessageChannel?
    private let relay = ServiceRelay()
    private var timer: Timer?
    private var refusal: String?
    private var cancelled: (() -> Void)?
    private let begin = EventLoop.monotonicNanoseconds()
    private var holdBegin: UInt64 = 0
    private var gapBegin: UInt64 = 0
    /// Where the data of before a restore is.
    private var kept = ""
    /// Whether a restore moves files beside the loop. A failure waits for the end of that.
    private var isMovingFiles = false
    private var failureMeanwhile: String?

    /// How long requests that have begun may go on before the databases change hands.
    private static let holdMilliseconds: UInt64 = 300
    /// How long the new process may take to open the databases.
    private static let switchMilliseconds: UInt64 = 3000

    init(_ host: HearthHost, _ request: UpgradeRequest, completion: @escaping (Result<UpgradeReport, UpgradeFailure>) -> Void) {
        self.host = host
        self.request = request
        self.completion = completion
    }

    /// The process that has taken over.
    var pid: Int32 { process?.pid ?? 0 }

    // MARK: Getting ready

    func start() {
        guard host.database.database.canChangeHands else {
            return fail("the databases are in memory and would be lost; restart the host instead")
        }
        host.options.serviceManager?.notify(
            "RELOADING=1", "MONOTONIC_USEC=\(EventLoop.monotonicNanoseconds() / 1000)", "STATUS=Upgrading: the new host is starting")
        host.log.notice("upgrading: the new host is starting", metadata: ["program": "\(host.executable)"])
        guard let stage = request.restore?.folder else { return launch() }
        let data = host.data.path
        host.home.offload { () -> BackupFailure? in
            do throws(BackupFailure) { try RestoreSwitch.addArtifacts(stage: stage, data: data) } catch { return error }
            return nil
        } then: { [self] failure in
            guard phase == .preparing else { return }
            if let failure { fail(failure.description) } else { launch() }
        }
    }

    private func launch() {
        do throws(LoopError) {
            try startProcess()
        } catch {
            return fail("the new host cannot be started: \(error)")
        }
        limit(milliseconds: UInt64(request.timeoutSeconds) * 1000) { [unowned self] in
            fail("the new host was not ready within \(request.timeoutSeconds) s; its log says how far it came")
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

    private func limit(milliseconds: UInt64, _ body: @escaping () -> Void) {
        timer = Timer(loop: host.home, body)
        timer?.start(afterMilliseconds: milliseconds)
    }

    // MARK: What the new process says

    private func receive(_ message: MessageChannel.Message?) {
        // The end is told by the process, too; a channel that ends alone is a process that is lost.
        guard let message, let first = message.bytes.first else {
            if phase == .serving || phase == .over { relay.end() } else { process?.kill(SIGKILL) }
            return
        }
        MessageChannel.closeAll(message.descriptors)
        switch UpgradeMessage(rawValue: first) {
        case .prepared?: if phase == .preparing { didPrepare(message.bytes.dropFirst()) }
        case .failed?: refusal = refusal ?? String(decoding: message.bytes.dropFirst(), as: UTF8.self)
        case .serving?: if phase == .switching { didServe() }
        case .answer?: if let part = RelayPart(message.bytes.dropFirst()) { relay.receive(part) }
        default: break
        }
    }

    private func didExit(_ ending: ChildProcess.Ending) {
        guard phase != .serving else { return host.successorDidEnd(ending) }
        // It had no time to remove the control groups of its workers.
        host.dispatcher.removeAbandonedGroups()
        guard phase != .over else { return }
        let end = ending.signal != 0 ? "was ended by signal \(ending.signal)" : "ended with status \(ending.status)"
        fail(refusal ?? "the new host \(end) before it served; its log says more")
    }

    private func didPrepare(_ bytes: ArraySlice<UInt8>) {
        let said = (try? JSONValue(parsing: Array(bytes))) ?? .null
        let own = Set(host.refusals.map(\.description))
        let refusals = (said["refusals"]?.array ?? []).compactMap(\.string).filter { !own.contains($0) }
        if let first = refusals.first { return fail("the new host would leave out what this one serves: \(first)") }
        hold()
    }

    // MARK: Changing hands

    private func hold() {
        phase = .holding
        holdBegin = EventLoop.monotonicNanoseconds()
        host.delivery.stop()
        for shard in host.shards { shard.hold() }
        awaitQuiet()
    }

    /// Looks every few milliseconds whether what has begun has ended.
    private func awaitQuiet() {
        let elapsed = (EventLoop.monotonicNanoseconds() - holdBegin) / 1_000_000
        guard elapsed < Self.holdMilliseconds else { return suspend() }
        var left = host.shards.count
        var busy = host.delivery.runningCount
        let counted = LoopBound(
            { [weak self] (count: Int) in
                busy += count
                left -= 1
                guard let self, left == 0, phase == .holding else { return }
                // Who asks for the upgrade waits for its end.
                if busy <= request.waitingRequests { suspend() } else { limit(milliseconds: 2) { [unowned self] in awaitQuiet() } }
            }, loop: host.home)
        let home = host.home
        for shard in host.shards {
            shard.countBusy { count in home.post { counted.value(count) } }
        }
    }

    private func suspend() {
        guard phase == .holding else { return }
        phase = .switching
        gapBegin = EventLoop.monotonicNanoseconds()
        host.dispatcher.services.successor = relay
        limit(milliseconds: Self.switchMilliseconds) { [unowned self] in
            refusal = "the new host did not open the databases within \(Self.switchMilliseconds) ms"
            process?.kill(SIGKILL)
        }
        host.delivery.finish { [self] in
            closeStores { [self] in
                guard phase == .switching else { return }
                swapData { [self] in channel?.send(UpgradeMessage.take.bytes) }
            }
        }
    }

    /// Closes everything that the new process opens.
    private func closeStores(completion: @escaping () -> Void) {
        host.database.database.suspend(on: host.home) { [self] in
            let home = host.home
            let answer = LoopBound(completion, loop: home)
            host.messaging.suspend { home.post { answer.value() } }
        }
    }

    /// Puts the data of a restore in place, beside the loop: no process has the databases open.
    private func swapData(then next: @escaping () -> Void) {
        guard let stage = request.restore?.folder else { return next() }
        let data = host.data.path
        isMovingFiles = true
        host.home.offload { () -> Result<String, BackupFailure> in
            do throws(BackupFailure) { return .success(try RestoreSwitch.perform(stage: stage, data: data)) } catch { return .failure(error) }
        } then: { [self] result in
            isMovingFiles = false
            switch result {
            case .success(let place): kept = place
            case .failure(let failure): failureMeanwhile = failureMeanwhile ?? failure.description
            }
            if let failureMeanwhile { fail(failureMeanwhile) } else if phase == .switching { next() }
        }
    }

    /// The new process serves: from here on there is no way back.
    private func didServe() {
        phase = .serving
        timer = nil
        let now = EventLoop.monotonicNanoseconds()
        let gap = Int((now - gapBegin) / 1_000_000)
        host.options.serviceManager?.notify("MAINPID=\(pid)")
        channel?.send(UpgradeMessage.commit.bytes)
        if let channel { relay.open(channel) }
        host.handOver { [self] transfer in
            channel?.send(transfer.bytes, descriptors: [transfer.descriptor])
            Glibc.close(transfer.descriptor)
        }
        let held = Int((EventLoop.monotonicNanoseconds() - holdBegin) / 1_000_000)
        let total = Int((now - begin) / 1_000_000)
        host.log.notice(
            "upgraded: the new process serves; this one finishes the requests that have started",
            metadata: ["process": "\(pid)", "heldMilliseconds": "\(held)", "gapMilliseconds": "\(gap)"])
        finish(.success(UpgradeReport(pid: pid, milliseconds: total, heldMilliseconds: held, gapMilliseconds: gap, kept: kept)))
    }

    /// Whether everything for the new process has been sent.
    var isFlushed: Bool { channel?.isFlushed ?? true }

    // MARK: Failing

    /// Gives up, while that is still possible.
    ///
    /// - Parameter completion: called once this host is as it was, or at once where the new process serves.
    func cancel(_ reason: String, completion: @escaping () -> Void) {
        // What a failure puts back is complete before the host goes on.
        if phase == .over, isMovingFiles {
            cancelled = completion
            return
        }
        guard phase == .switching, let process else {
            fail(reason)
            return completion()
        }
        phase = .ending
        timer = nil
        refusal = reason
        cancelled = completion
        process.kill(SIGKILL)
    }

    /// The new process has ended, or was never given the databases.
    private func fail(_ reason: String) {
        guard phase != .over, phase != .serving else { return }
        guard !isMovingFiles else { return failureMeanwhile = failureMeanwhile ?? reason }
        let reached = phase == .ending ? .switching : phase
        phase = .over
        timer = nil
        channel?.close()
        process?.kill(SIGKILL)
        guard !kept.isEmpty else { return goOn(after: reached, reason) }
        isMovingFiles = true
        let (kept, data) = (kept, host.data.path)
        host.home.offload { RestoreSwitch.undo(kept: kept, data: data) } then: { [self] in
            isMovingFiles = false
            goOn(after: reached, reason)
        }
    }

    /// Serves as before: the upgrade has come as far as `reached`.
    private func goOn(after reached: Phase, _ reason: String) {
        if reached == .switching {
            host.database.database.resume()
            host.messaging.resume()
        }
        if reached == .switching || reached == .holding {
            host.services.successor = nil
            for (call, completion) in relay.takeWaiting() { host.services.handle(call, completion: completion) }
            host.delivery.resume()
            if reached == .holding { host.database.database.announcePending() }
            host.database.openWaiting()
            host.endHold()
        }
        host.log.error("the host was not upgraded and goes on as before", metadata: ["reason": "\(reason)"])
        host.options.serviceManager?.notify("READY=1", "STATUS=Serving; the last upgrade failed: \(reason)")
        finish(.failure(UpgradeFailure(description: reason)))
        cancelled?()
        cancelled = nil
    }

    private func finish(_ result: Result<UpgradeReport, UpgradeFailure>) {
        let completion = completion
        self.completion = nil
        completion?(result)
    }
}

/// What an administrator says of an upgrade.
struct UpgradeRequest {
    /// How long the new host may take to get ready.
    var timeoutSeconds = 60
    /// How many requests wait for the upgrade's end.
    var waitingRequests = 0
    /// What takes the data's place meanwhile.
    var restore: RestoreStage?
}
