import EventLoop
import FunctionWorker
import Glibc
import HearthBytes
import WorkerProtocol

/// Gets what a worker process says.
protocol WorkerChildOwner: AnyObject {
    func child(_ child: WorkerChild, received header: FrameHeader, head: Span<UInt8>, body: Span<UInt8>)
    func child(_ child: WorkerChild, logged header: LogRecordHeader, message: Span<UInt8>, fields: Span<UInt8>)
    func child(_ child: WorkerChild, printed line: Span<UInt8>, source: LogSource)
    /// The charge for bytes that wait on its channel, in either direction.
    func memory(for child: WorkerChild) -> MemoryCharge
    /// Whether there is memory for more of what it says.
    func childMayGoOn(_ child: WorkerChild) -> Bool
    /// It has had 30 s for one frame, and has not finished it.
    func childLeftFrameUnfinished(_ child: WorkerChild)
    /// Nothing that is sent from here on reaches it; what it has sent is still read.
    func childDidGoDeaf(_ child: WorkerChild)
    /// Last: the process is reaped and everything that it sent was handed on.
    func child(_ child: WorkerChild, ended ending: ChildProcess.Ending)
}

/// The process of a worker and its four sockets. It may be started before anybody knows what it will run.
final class WorkerChild {
    /// Whom it tells, kept alive until the process has ended; a child without an owner is the prewarmed one.
    var owner: (any WorkerChildOwner)?
    /// Makes this worker's names of invocations its own.
    let seed = UInt64.random(in: .min ... .max)
    /// Whether nothing reaches it any more: it has closed its channel, or ended.
    private(set) var isDeaf = false
    /// How it ended, once it is reaped and read to the end.
    private(set) var ending: ChildProcess.Ending?
    /// Whether the kernel has ended something in its control group for want of memory. Known once it has ended.
    private(set) var tookTooMuchMemory = false
    /// Its control group, where there are any; it joins by itself.
    let group: ControlGroup?
    /// The page of memory shared with it.
    let page: WorkerPage
    /// How many frames were sent to it, those included that wait to leave.
    private(set) var framesSent: UInt64 = 0

    private let loop: EventLoop
    private let process: ChildProcess
    private let channel: Stream
    private var reader = FrameReader()
    private var records = LogRecordReader()
    private var printed: [LineSplitter] = [LineSplitter(), LineSplitter()]
    /// Counts a large frame that is not complete.
    private var gathering = MemoryCharge()
    /// Looks for room while the channel is not read.
    private var roomTimer: Timer?
    /// Ends a worker that leaves a large frame unfinished.
    private var frameTimer: Timer?
    private var exit: ChildProcess.Ending?
    private var openSockets = 0
    private var endTimer: Timer?
    private let onExit: (WorkerChild) -> Void
    private let onEnd: (WorkerChild) -> Void

    var pid: Int32 { process.pid }

    /// - Parameters:
    ///   - process: `hearth worker`, which runs without a plugin.
    ///   - page: the memory that it was given.
    ///   - onExit: called when it is reaped.
    ///   - onEnd: called after the owner was told, when nothing is left of it.
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
        channel = process.sockets[2]
        group = launch.variables.groups.group(of: process.pid, hostPID: launch.variables.hostPID)
        process.exited = { [self] in didExit($0) }
        openSockets = process.sockets.count
        for stream in process.sockets {
            stream.handler = self
            stream.startReading()
        }
    }

    /// The buffer for frames to the worker; call ``frameIsWhole()`` after each frame.
    var outbox: ByteBuffer {
        _read { yield channel.outbox }
        _modify { yield &channel.outbox }
    }

    /// Lets the frame that was appended to ``outbox`` leave at the end of the turn. To be called once for each.
    @inline(__always)
    func frameIsWhole() {
        framesSent &+= 1
        channel.queueFlush()
    }

    // MARK: Holding back

    /// Of a frame that is larger than this, what has arrived is counted.
    private static let smallFrameBytes = 64 << 10
    /// How long a worker that is not held back may take for one frame: an unfinished one may keep others from theirs.
    private static let frameMilliseconds: UInt64 = 30_000
    private static let roomMilliseconds: UInt64 = 5

    /// Whether there is room for the unfinished frame, or for the next one.
    private func findsRoom() -> Bool {
        guard reader.unfinishedFrameBytes > Self.smallFrameBytes else {
            if gathering.bytes != 0 { gathering.set(to: 0) }
            return owner?.childMayGoOn(self) ?? true
        }
        let bytes = reader.pendingBytes
        if !gathering.isBound { gathering = owner?.memory(for: self) ?? MemoryCharge() }
        if bytes < gathering.bytes { gathering.set(to: 0) }
        return gathering.grow(to: bytes) == .granted
    }

    /// Gives a large frame that is not whole its time, from when it was begun or read on.
    private func watchFrame() {
        guard exit == nil, roomTimer == nil, reader.unfinishedFrameBytes > Self.smallFrameBytes else { return frameTimer = nil }
        guard frameTimer == nil else { return }
        frameTimer = Timer(loop: loop) { [unowned self] in
            frameTimer = nil
            owner?.childLeftFrameUnfinished(self)
        }
        frameTimer?.start(afterMilliseconds: Self.frameMilliseconds)
    }

    /// Pauses reading until there is room.
    private func holdBackIfFull() {
        guard exit == nil, roomTimer == nil, !findsRoom() else { return }
        channel.pauseReading()
        let timer = Timer(loop: loop) { [unowned self] in goOnIfRoom() }
        timer.start(afterMilliseconds: Self.roomMilliseconds, repeatMilliseconds: Self.roomMilliseconds)
        roomTimer = timer
    }

    /// Reads on where it was held back and there is room again.
    func goOnIfRoom() {
        guard roomTimer != nil, exit != nil || findsRoom() else { return }
        roomTimer = nil
        channel.resumeReading()
        watchFrame()
    }

    /// Ends it at once, with everything that it has started.
    func kill() {
        guard exit == nil else { return }
        // Before the worker has its own session there is no group of that number, and the process itself gets the signal.
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
        goOnIfRoom()
        // What it has started must not live on, nor hold its sockets open.
        Glibc.kill(-process.pid, SIGKILL)
        onExit(self)
        awaitSockets(turnsLeft: 3)
        endIfComplete()
    }

    /// What it has sent is still to be read. Somebody else may have its sockets, though, and keep them.
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
        leaveGroup(attemptsLeft: 100)
    }

    /// What has ended, and what it had started, may stay in the group for a moment more.
    private func leaveGroup(attemptsLeft: Int) {
        endTimer = nil
        guard attemptsLeft > 0, let group, !group.remove() else { return onEnd(self) }
        group.killAll()
        endTimer = Timer(loop: loop) { [self] in leaveGroup(attemptsLeft: attemptsLeft - 1) }
        endTimer?.start(afterMilliseconds: 2)
    }
}

extension WorkerChild: StreamHandler {
    func stream(_ stream: Stream, didRead bytes: Span<UInt8>) {
        if stream === channel {
            do throws(FrameError) {
                try reader.read(bytes) { owner?.child(self, received: $0, head: $1, body: $2) }
            } catch {
                return kill()
            }
            holdBackIfFull()
            watchFrame()
        } else if stream === process.sockets[3] {
            if !records.read(bytes, { owner?.child(self, logged: $0, message: $1, fields: $2) }) { kill() }
        } else {
            let index = stream === process.sockets[0] ? 0 : 1
            printed[index].split(bytes) { owner?.child(self, printed: $0, source: index == 0 ? .standardOutput : .standardError) }
        }
    }

    func streamDidEnd(_ stream: Stream) {
        if stream === channel { goDeaf() }
        stream.close()
    }

    func stream(_ stream: Stream, didFail error: LoopError) {}

    func streamDidDrain(_ stream: Stream) {}

    func memory(for stream: Stream) -> MemoryCharge { stream === channel ? owner?.memory(for: self) ?? MemoryCharge() : MemoryCharge() }

    func streamDidClose(_ stream: Stream) {
        openSockets -= 1
        if stream === channel {
            roomTimer = nil
            frameTimer = nil
            gathering.set(to: 0)
        }
        // A worker without its channel is of no use.
        if stream === channel { kill() }
        endIfComplete()
    }
}

/// What is the same for every worker of a host.
struct WorkerLaunch {
    /// The program: this one.
    var executable: String
    /// What it is told.
    var variables: WorkerLaunchVariables
    /// Where a worker stands until it is told its own directory.
    var directory: String

    func command(_ page: WorkerPage) -> ChildProcess.Command {
        ChildProcess.Command(
            program: executable, arguments: ["hearth", "worker"], environment: variables.entries + ["PATH=/usr/bin:/bin"],
            directory: directory, descriptors: [.null, .socket, .socket, .socket, .socket, .inherit(page.descriptor)])
    }
}

/// Cuts what a process prints into lines; a line longer than 16 KiB is cut where that is reached.
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
