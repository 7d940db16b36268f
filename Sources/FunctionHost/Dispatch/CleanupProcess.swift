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
    private var isStopped = false

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
        if workers.remove(pid) != nil { tell(-pid) }
    }

    private func start() {
        let command = ChildProcess.Command(
            program: executable, arguments: ["hearth", "clean-up"], environment: [], directory: nil, descriptors: [.socket, .null, .null])
        do throws(LoopError) {
            let process = try ChildProcess(loop: loop, command)
            self.process = process
            process.sockets[0].handler = self
            process.exited = { [weak self] _ in self?.didEnd() }
            for pid in workers { tell(pid) }
        } catch {
            log.warning("what workers leave behind will not be ended", metadata: ["reason": "\(error)"])
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
        if !workers.isEmpty, !isStopped { start() }
    }

    /// Every worker has ended. The process ends with what it still does.
    func stop() {
        isStopped = true
        process?.sockets.first?.close()
    }
}

extension CleanupProcess: StreamHandler {
    func stream(_ stream: Stream, didRead bytes: Span<UInt8>) {}
    func streamDidEnd(_ stream: Stream) {}
    func stream(_ stream: Stream, didFail error: LoopError) {}
    func streamDidDrain(_ stream: Stream) {}
    func streamDidClose(_ stream: Stream) {}
}
