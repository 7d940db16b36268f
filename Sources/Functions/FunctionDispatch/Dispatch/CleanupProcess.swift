import EventLoop
import HearthBytes
import Logging

/// The process that ends what workers leave behind; see `WorkerCleanup`. Started with the first worker, and again where it was killed.
final class CleanupProcess {
    private let loop: EventLoop
    private let executable: String
    private let log: Logger
    private var process: ChildProcess?
    private var workers: Set<Int32> = []
    /// Workers that have ended while there was no process to be told.
    private var untold: [Int32] = []
    private var restart: Timer?
    private var restartMilliseconds = CleanupProcess.restartMillisecondsMin
    private var startedMilliseconds: UInt64 = 0

    /// A process that ends as soon as it has started is started again ever more rarely.
    private static let restartMillisecondsMin: UInt64 = 10
    private static let restartMillisecondsMax: UInt64 = 10_000

    init(loop: EventLoop, executable: String, log: Logger) {
        self.loop = loop
        self.executable = executable
        self.log = log
    }

    /// A worker has been started; it has not loaded its plugin yet.
    func workerDidStart(_ pid: Int32) {
        workers.insert(pid)
        if process == nil { start() } else { tell(pid) }
    }

    /// A worker has ended, and what it has started must end with it.
    func workerDidEnd(_ pid: Int32) {
        guard workers.remove(pid) != nil else { return }
        if process == nil { untold.append(pid) } else { tell(-pid) }
    }

    private func start() {
        guard restart == nil else { return }
        let command = ChildProcess.Command(
            program: executable, arguments: ["hearth", "clean-up"], environment: [], directory: nil, descriptors: [.socket, .null, .null])
        do throws(LoopError) {
            let process = try ChildProcess(loop: loop, command)
            self.process = process
            startedMilliseconds = loop.nowMilliseconds
            process.sockets[0].handler = self
            process.exited = { [weak self, weak process] _ in
                process?.sockets[0].close()
                self?.didEnd()
            }
            for pid in workers { tell(pid) }
            for pid in untold {
                tell(pid)
                tell(-pid)
            }
            untold = []
        } catch {
            log.warning("what workers leave behind will not be ended", metadata: ["reason": "\(error)"])
            startLater()
        }
    }

    private func tell(_ number: Int32) {
        guard let stream = process?.sockets.first else { return }
        withUnsafeBytes(of: number) { bytes in
            bytes.withMemoryRebound(to: UInt8.self) { stream.outbox.append(Span(_unsafeElements: $0)) }
        }
        stream.queueFlush()
    }

    /// The process ended unexpectedly: start another one.
    private func didEnd() {
        process = nil
        if loop.nowMilliseconds - startedMilliseconds > Self.restartMillisecondsMax { restartMilliseconds = Self.restartMillisecondsMin }
        startLater()
    }

    private func startLater() {
        guard restart == nil, !(workers.isEmpty && untold.isEmpty) else { return }
        let timer = Timer(loop: loop) { [unowned self] in
            restart = nil
            if process == nil { start() }
        }
        timer.start(afterMilliseconds: restartMilliseconds)
        restartMilliseconds = min(restartMilliseconds * 4, Self.restartMillisecondsMax)
        restart = timer
    }
}

extension CleanupProcess: StreamHandler {
    func stream(_ stream: Stream, didRead bytes: Span<UInt8>) {}
    func streamDidEnd(_ stream: Stream) {}
    func stream(_ stream: Stream, didFail error: LoopError) {}
    func streamDidDrain(_ stream: Stream) {}
    func streamDidClose(_ stream: Stream) {}
}
