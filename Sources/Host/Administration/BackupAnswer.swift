import AdminProtocol
import EventLoop
import HearthBytes
import HostCore
import HTTP
import Logging
import Logs

/// Streams a backup as an answer, as fast as the client takes it. The archive is made on the thread pool.
final class BackupAnswer: HTTPExchangeObserver {
    private let exchange: HTTPExchange
    private let loop: EventLoop
    private let log: Logger
    private var isClosed = false
    private var isFull = false
    private var drain: CheckedContinuation<Void, Never>?

    /// An archive that is used by one job at a time.
    // Unchecked: `send` starts the next job after the last one has ended.
    private final class Held: @unchecked Sendable {
        let archive: BackupArchive

        init(_ archive: BackupArchive) { self.archive = archive }
    }

    init(_ exchange: HTTPExchange, _ loop: EventLoop, log: Logger) {
        self.log = log
        self.exchange = exchange
        self.loop = loop
        exchange.observer = self
    }

    /// Answers with an archive.
    ///
    /// The answer begins when the first database has been copied, so that a disk that is full already has an answer of its own.
    ///
    /// - Throws: `AdminError` if no backup can be made. A failure after the first bytes aborts the answer, and is logged.
    func send(data: String, project: String) async throws(AdminError) {
        let time = WallClock.unixSeconds
        let held = try await offload { () throws(BackupFailure) in Held(try BackupArchive(data: data, project: project, time: time)) }
        var isStarted = false
        // The head of the archive, until there is more.
        var head: [UInt8] = []
        while !isClosed {
            let piece: [UInt8]?
            do throws(AdminError) {
                piece = try await offload { () throws(BackupFailure) in try held.archive.next() }
            } catch {
                log.error("a backup failed", metadata: ["reason": "\(error.message)"])
                guard isStarted else { throw error }
                return exchange.abort()
            }
            guard !isClosed else { return }
            guard let piece else { return exchange.end() }
            if piece.isEmpty { continue }
            if head.isEmpty, !isStarted {
                head = piece
                continue
            }
            if !isStarted { start(held.archive.estimatedBytes) }
            isFull = exchange.write((isStarted ? piece : head + piece).span) != .ready
            isStarted = true
            await drained()
        }
    }

    private func offload<Value: Sendable>(
        _ work: @escaping @Sendable () throws(BackupFailure) -> Value
    ) async throws(AdminError) -> Value {
        do throws(BackupFailure) { return try await loop.offload(work) } catch { throw AdminError(.unavailable, error.description) }
    }

    private func start(_ estimatedBytes: Int) {
        exchange.startResponse(.ok) { fields in
            fields.field("Content-Type", "application/x-tar")
            fields.field("Cache-Control", "no-store")
            fields.field("X-Hearth-Estimated-Bytes", estimatedBytes)
        }
    }

    /// Waits until the client has taken the written bytes, or is gone.
    private func drained() async {
        await withCheckedContinuation { continuation in
            if isFull, !isClosed { drain = continuation } else { continuation.resume() }
        }
    }

    func exchangeDidDrain(_ exchange: HTTPExchange) { goOn() }

    func exchangeDidClose(_ exchange: HTTPExchange) {
        isClosed = true
        goOn()
    }

    private func goOn() {
        isFull = false
        drain?.resume()
        drain = nil
    }
}
