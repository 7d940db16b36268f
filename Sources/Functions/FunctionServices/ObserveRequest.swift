import Crypto
import EventLoop
import HearthBytes
import RealtimeDatabase

/// A call of `observe`: a read that is answered when the caller does not have the value yet.
struct ObserveRequest: Sendable {
    /// The read of the value.
    var read: ReadRequest
    /// The mark of the value that the caller has; nil if it has none.
    var mark: String?
    /// The name of the wait, with which the caller can end it.
    var id: String?
    /// The longest wait.
    var timeoutMilliseconds: UInt64

    /// The size limit of a payload. Waiting calls keep theirs.
    static let payloadBytesMax = 64 << 10
    /// The longest wait of one call. The caller repeats it.
    static let timeoutMillisecondsMax: UInt64 = 3_600_000

    init(_ payload: DatabaseServicePayload, _ read: ReadRequest) throws(DatabaseServiceRefusal) {
        self.read = read
        mark = try payload.mark()
        id = try payload.id()
        timeoutMilliseconds = min(try payload.timeoutMilliseconds() ?? Self.timeoutMillisecondsMax, Self.timeoutMillisecondsMax)
    }
}

/// The mark of a value: a short text that is different for different values, and the same on every host.
enum ValueMark {
    /// The size up to which a mark is computed on the loop. A larger value would delay other calls.
    private static let shortBytes = 128 << 10

    /// Computes the mark of `json`, the value in the form in which the caller gets it. `completion` is called on `loop`, at once or later.
    static func make(of json: [UInt8], on loop: EventLoop, completion: @escaping (String) -> Void) {
        guard json.count > shortBytes else { return completion(of(json)) }
        loop.compute { of(json) } then: { completion($0) }
    }

    static func of(_ json: [UInt8]) -> String {
        var hash = SHA256()
        json.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return Hexadecimal.text(hash.finalize().prefix(16))
    }
}
