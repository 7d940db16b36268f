import AdminProtocol
import EventLoop
import Glibc

/// A backup that comes back through the running host: pieces in their order, one restore at a time. Belongs to the home loop; the disk's
/// work is done on the thread pool.
package final class RestoreUploads {
    private let loop: EventLoop
    private let data: String
    private var current: Held?

    /// A stage that belongs to one piece of work after the other.
    // Unchecked: `isWorking` lets only one piece of work have it at a time, and the next begins on the home loop after that.
    private final class Held: @unchecked Sendable {
        let id: String
        let stage: RestoreStage
        var offset = 0
        var isWorking = false

        init(_ stage: RestoreStage) {
            self.stage = stage
            id = String(UInt64.random(in: .min ... .max), radix: 36)
        }
    }

    package init(loop: EventLoop, data: String) {
        self.loop = loop
        self.data = data
    }

    /// Begins a restore; one that was begun before and not applied is given up.
    package func begin() -> Result<String, AdminError> {
        if let current, current.isWorking { return .failure(AdminError(.unavailable, "another restore is under way; try again")) }
        current = nil
        do throws(BackupFailure) {
            let held = Held(try RestoreStage(data: data))
            current = held
            return .success(held.id)
        } catch {
            return .failure(AdminError(.unavailable, error.description))
        }
    }

    /// Takes the next piece of the archive; `completion` hears how many bytes are there.
    package func write(_ id: String, offset: Int, _ bytes: [UInt8], completion: @escaping (Result<Int, AdminError>) -> Void) {
        guard let held = found(id) else { return completion(.failure(Self.unknown)) }
        guard offset == held.offset else {
            return completion(.failure(AdminError(.failedPrecondition, "expected the piece at offset \(held.offset), found the one at \(offset)")))
        }
        work(held, { stage throws(BackupFailure) in try stage.write(bytes) }) { result in
            if case .success = result { held.offset += bytes.count }
            completion(result.map { held.offset })
        }
    }

    /// Everything has come: checks it. The stage that is handed on is nobody else's any more.
    package func finish(_ id: String, completion: @escaping (Result<(RestoreStage, Int), AdminError>) -> Void) {
        guard let held = found(id) else { return completion(.failure(Self.unknown)) }
        work(held, { stage throws(BackupFailure) in try stage.finish().count }) { [self] result in
            if case .success = result { current = nil }
            completion(result.map { (held.stage, $0) })
        }
    }

    /// Gives a restore up.
    package func remove(_ id: String) { if found(id) != nil { current = nil } }

    private static let unknown = AdminError(.notFound, "there is no such restore, or it is busy; start again")

    private func found(_ id: String) -> Held? {
        guard let current, current.id == id, !current.isWorking else { return nil }
        return current
    }

    private func work<Value: Sendable>(
        _ held: Held, _ body: @escaping @Sendable (RestoreStage) throws(BackupFailure) -> Value,
        completion: @escaping (Result<Value, AdminError>) -> Void
    ) {
        held.isWorking = true
        loop.offload { () -> Result<Value, AdminError> in
            do throws(BackupFailure) {
                return .success(try body(held.stage))
            } catch {
                held.stage.discard()
                return .failure(AdminError(.invalidArgument, "\(error)"))
            }
        } then: { [self] result in
            held.isWorking = false
            if case .failure = result, current === held { current = nil }
            completion(result)
        }
    }
}
