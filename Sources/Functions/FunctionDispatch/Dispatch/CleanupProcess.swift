import EventLoop
import HearthBytes
import Logging

/// Starts and informs the clean-up process, which kills leftover processes of workers; see `WorkerCleanup`. It is started with the first
/// worker, and again if it was killed.
final class CleanupProcess {
    private let loop: EventLoop
    private let executable: String
    private let log: Logger
    private var process: ChildProcess?
    private var workers: Set<Int32> = []
    /// Workers that have ended while no clean-up process was running.
    private var untold: [Int32] = []
    private var restart: Timer?
    private var restartMilliseconds = CleanupProcess.restartMillisecondsMin
    private var startedMilliseconds: UInt64 = 0

    /// Limits of the delay before a restart. It grows while the process ends soon after its start.
    private static let restartMillisecondsMin: UInt64 = 10
    private static let restartMillisecondsMax: UInt64 = 10_000

    init(loop: EventLoop, executable: String, log: Logger) {
        self.loop = loop
        self.executable = executable
        self.log = log
    }

    /// Reports a worker that has been started and has not loaded its plugin yet.
    func workerDidStart(_ pid: Int32) {
        workers.insert(pid)
        if process == nil { start() } else { tell(pid) }
    }

    /// Reports a worker that has ended, so that its remaining processes are killed.
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
            log.warning("leftover processes of workers are not ended: the clean-up process cannot be started", metadata: ["reason": "\(error)"])
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

    /// Schedules another process after the end of this one, which is always unexpected.
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
