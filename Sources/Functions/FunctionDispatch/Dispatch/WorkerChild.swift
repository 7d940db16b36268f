import EventLoop
import FunctionWorker
import Glibc
import HearthBytes
import WorkerProtocol

/// Receives the frames, log lines and events of a worker process.
protocol WorkerChildOwner: AnyObject {
    func child(_ child: WorkerChild, received header: FrameHeader, head: Span<UInt8>, body: Span<UInt8>)
    func child(_ child: WorkerChild, logged header: LogRecordHeader, message: Span<UInt8>, fields: Span<UInt8>)
    func child(_ child: WorkerChild, printed line: Span<UInt8>, source: LogSource)
    /// The charge for bytes that are buffered on its channel, in either direction.
    func memory(for child: WorkerChild) -> MemoryCharge
    /// Whether there is memory for further data from the process.
    func childMayGoOn(_ child: WorkerChild) -> Bool
    /// Called when the process has not completed a frame within 30 s.
    func childLeftFrameUnfinished(_ child: WorkerChild)
    /// Called when the process has closed its channel. Nothing that is sent reaches it any more; data that it has sent is still read.
    func childDidGoDeaf(_ child: WorkerChild)
    /// Called last: the process is reaped, and all its data was delivered.
    func child(_ child: WorkerChild, ended ending: ChildProcess.Ending)
}

/// The process of a worker and its sockets. It may be started before its plugin is known.
final class WorkerChild {
    /// The receiver of its data, referenced until the process has ended; nil for the prewarmed process.
    var owner: (any WorkerChildOwner)?
    /// A random number that makes the names of its invocations differ from those of other workers.
    let seed = UInt64.random(in: .min ... .max)
    /// A record for each lane.
    let records: [LaneRecord]
    /// The first lane: the socket to the dispatcher's loop.
    let channel: FrameChannel
    /// Whether it has closed its channel or ended, so that nothing reaches it any more.
    private(set) var isDeaf = false
    /// How it ended; nil until it is reaped and all its data was read.
    private(set) var ending: ChildProcess.Ending?
    /// Whether the kernel killed a process in its control group for lack of memory. Known once it has ended.
    private(set) var tookTooMuchMemory = false
    /// Its control group, if groups are available. The process joins it by itself.
    let group: ControlGroup?
    /// The memory page shared with it.
    let page: WorkerPage

    private let loop: EventLoop
    private let process: ChildProcess
    private var logReader = LogRecordReader()
    private var printed: [LineSplitter] = [LineSplitter(), LineSplitter()]
    private var exit: ChildProcess.Ending?
    private var openSockets = 0
    private var endTimer: Timer?
    private let onExit: (WorkerChild) -> Void
    private let onEnd: (WorkerChild) -> Void

    var pid: Int32 { process.pid }

    /// - Parameters:
    ///   - process: a process of `hearth worker`, which has no plugin yet.
    ///   - page: the page that it was given.
    ///   - onExit: called when it is reaped.
    ///   - onEnd: called last, after the owner was notified of the end.
    init(
        _ process: ChildProcess, page: WorkerPage, loop: EventLoop, launch: WorkerLaunch, onExit: @escaping (WorkerChild) -> Void,
        onEnd: @escaping (WorkerChild) -> Void
    ) {
        self.loop = loop
        self.onExit = onExit
        self.onEnd = onEnd
        self.process = process
        self.page = page
        page.closeDescriptor()
        records = (0..<launch.variables.lanes).map { _ in LaneRecord() }
        channel = FrameChannel(process.sockets[2], loop: loop, record: records[0])
        group = launch.variables.groups.group(of: process.pid, hostPID: launch.variables.hostPID)
        process.exited = { [self] in didExit($0) }
        openSockets = process.sockets.count
        channel.begin(for: self)
        for index in [0, 1, 3] {
            process.sockets[index].handler = self
            process.sockets[index].startReading()
        }
    }

    /// The host's ends of the sockets for further loops, in their order. The caller owns them from now on.
    func takeLaneSockets() -> [Int32] { process.takeDescriptors() }

    /// Kills it, with all processes that it has started.
    func kill() {
        guard exit == nil else { return }
        // Before the worker has created its session, there is no such process group. Then the process itself gets the signal.
        if Glibc.kill(-process.pid, SIGKILL) != 0 { process.kill(SIGKILL) }
    }

    private func goDeaf() {
        guard !isDeaf else { return }
        isDeaf = true
        owner?.childDidGoDeaf(self)
    }

    private func didExit(_ ending: ChildProcess.Ending) {
        exit = ending
        goDeaf()
        channel.peerDidEnd()
        // Processes that it has started must not go on, nor keep its sockets open.
        Glibc.kill(-process.pid, SIGKILL)
        onExit(self)
        awaitSockets(turnsLeft: 3)
        endIfComplete()
    }

    /// Waits a short time until its data has been read, then closes its sockets, which another process may keep open.
    private func awaitSockets(turnsLeft: Int) {
        guard turnsLeft > 0 else {
            for stream in process.sockets { stream.close() }
            return
        }
        endTimer = Timer(loop: loop) { [self] in awaitSockets(turnsLeft: turnsLeft - 1) }
        endTimer?.start(afterMilliseconds: 50)
    }

    private func endIfComplete() {
        guard let exit, openSockets == 0, ending == nil else { return }
        ending = exit
        guard let group else { return end(exit) }
        loop.offload { group.hasKilled } then: { [self] in
            tookTooMuchMemory = $0
            end(exit)
        }
    }

    private func end(_ ending: ChildProcess.Ending) {
        owner?.child(self, ended: ending)
        owner = nil
        leaveGroup()
    }

    /// Removes the control group. Repeats this for at most 5 s, because ended processes stay in it for a while, on a busy machine for longer.
    private func leaveGroup(attempt: Int = 0) {
        endTimer = nil
        guard attempt < 300, let group, !group.remove() else { return onEnd(self) }
        group.killAll()
        endTimer = Timer(loop: loop) { [self] in leaveGroup(attempt: attempt + 1) }
        endTimer?.start(afterMilliseconds: attempt < 60 ? 2 : 20)
    }
}

extension WorkerChild: FrameChannelOwner {
    func channel(_ channel: FrameChannel, received header: FrameHeader, head: Span<UInt8>, body: Span<UInt8>) {
        owner?.child(self, received: header, head: head, body: body)
    }

    func memory(for channel: FrameChannel) -> MemoryCharge { owner?.memory(for: self) ?? MemoryCharge() }

    func channelMayGoOn(_ channel: FrameChannel) -> Bool { owner?.childMayGoOn(self) ?? true }

    func channelLeftFrameUnfinished(_ channel: FrameChannel) { owner?.childLeftFrameUnfinished(self) }

    func channelBroke(_ channel: FrameChannel) { kill() }

    func channelDidEnd(_ channel: FrameChannel) { goDeaf() }

    func channelDidClose(_ channel: FrameChannel) {
        openSockets -= 1
        // A worker without its channel is useless.
        kill()
        endIfComplete()
    }
}

/// Handles the process's output and log lines.
extension WorkerChild: StreamHandler {
    func stream(_ stream: Stream, didRead bytes: Span<UInt8>) {
        if stream === process.sockets[3] {
            if !logReader.read(bytes, { owner?.child(self, logged: $0, message: $1, fields: $2) }) { kill() }
        } else {
            let index = stream === process.sockets[0] ? 0 : 1
            printed[index].split(bytes) { owner?.child(self, printed: $0, source: index == 0 ? .standardOutput : .standardError) }
        }
    }

    func streamDidEnd(_ stream: Stream) { stream.close() }

    func stream(_ stream: Stream, didFail error: LoopError) {}

    func streamDidDrain(_ stream: Stream) {}

    func streamDidClose(_ stream: Stream) {
        openSockets -= 1
        endIfComplete()
    }
}

/// The parameters that are the same for all workers of a host.
struct WorkerLaunch {
    /// The program, which is this one.
    var executable: String
    /// The environment variables of `hearth worker`.
    var variables: WorkerLaunchVariables
    /// The working directory of a worker until it gets its own.
    var directory: String

    func command(_ page: WorkerPage) -> ChildProcess.Command {
        ChildProcess.Command(
            program: executable, arguments: ["hearth", "worker"], environment: variables.entries + ["PATH=/usr/bin:/bin"],
            directory: directory,
            descriptors: [.null, .socket, .socket, .socket, .socket, .inherit(page.descriptor)]
                + Array(repeating: .socketForOthers, count: variables.lanes - 1))
    }
}

/// Splits the output of a process into lines. Lines are cut after 16 KiB.
struct LineSplitter {
    static let lineSizeMax = 16 * 1024
    private var partial: [UInt8] = []

    mutating func split(_ bytes: Span<UInt8>, _ line: (Span<UInt8>) -> Void) {
        var start = 0
        for index in 0..<bytes.count where bytes[index] == UInt8(ascii: "\n") || index - start + 1 + partial.count >= Self.lineSizeMax {
            let isNewline = bytes[index] == UInt8(ascii: "\n")
            let piece = bytes.extracting(start..<(isNewline ? index : index + 1))
            if partial.isEmpty {
                line(piece)
            } else {
                partial.append(contentsOf: piece.array())
                line(partial.span)
                partial.removeAll(keepingCapacity: false)
            }
            start = index + 1
        }
        if start < bytes.count { partial.append(contentsOf: bytes.extracting(start..<bytes.count).array()) }
    }
}
