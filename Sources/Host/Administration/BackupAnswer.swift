import AdminProtocol
import EventLoop
import HearthBytes
import HostCore
import HTTP
import Logs

/// Streams a backup as an answer, as fast as the client takes it. The work is done on the thread pool.
final class BackupAnswer: HTTPExchangeObserver {
    private let exchange: HTTPExchange
    private let loop: EventLoop
    private var archive: Held?
    private var isWorking = false
    private var isStarted = false

    /// An archive that belongs to one piece of work after the other.
    // Unchecked: only one piece of work runs at a time, and the next begins after it has ended.
    private final class Held: @unchecked Sendable {
        let archive: BackupArchive

        init(_ archive: BackupArchive) { self.archive = archive }
    }

    /// Begins. Refuses the exchange where no backup can be made.
    static func begin(_ exchange: HTTPExchange, data: String, project: String, on loop: EventLoop) {
        let answer = BackupAnswer(exchange, loop)
        exchange.observer = answer
        let time = WallClock.unixSeconds
        loop.offload { () -> Result<Held, BackupFailure> in
            do throws(BackupFailure) {
                return .success(Held(try BackupArchive(data: data, project: project, time: time)))
            } catch {
                return .failure(error)
            }
        } then: {
            answer.didBegin($0)
        }
    }

    private init(_ exchange: HTTPExchange, _ loop: EventLoop) {
        self.exchange = exchange
        self.loop = loop
    }

    private func didBegin(_ result: Result<Held, BackupFailure>) {
        switch result {
        case .failure(let failure): AdminAnswer.refuse(exchange, AdminError(.unavailable, failure.description))
        case .success(let held):
            archive = held
            work()
        }
    }

    private func work() {
        guard let archive, !isWorking else { return }
        isWorking = true
        loop.offload { () -> Result<[UInt8]?, BackupFailure> in
            do throws(BackupFailure) { return .success(try archive.archive.next()) } catch { return .failure(error) }
        } then: { [self] in
            didWork($0)
        }
    }

    private func didWork(_ result: Result<[UInt8]?, BackupFailure>) {
        isWorking = false
        guard archive != nil else { return }
        switch result {
        case .failure(let failure):
            archive = nil
            if isStarted { exchange.abort() } else { AdminAnswer.refuse(exchange, AdminError(.unavailable, failure.description)) }
        case .success(nil):
            archive = nil
            exchange.end()
        case .success(let bytes?):
            guard !bytes.isEmpty else { return work() }
            start()
            if exchange.write(bytes.span) == .ready { work() }
        }
    }

    private func start() {
        guard !isStarted, let archive else { return }
        isStarted = true
        let size = archive.archive.estimatedBytes
        exchange.startResponse(.ok) { fields in
            fields.field("Content-Type", "application/x-tar")
            fields.field("Cache-Control", "no-store")
            fields.field("X-Hearth-Estimated-Bytes", size)
        }
    }

    func exchangeDidDrain(_ exchange: HTTPExchange) { work() }

    func exchangeDidClose(_ exchange: HTTPExchange) { archive = nil }
}
