/// What a frame says. Host and worker are one program of one version, so that the numbers may change between versions.
public enum FrameKind: UInt8, Sendable, CaseIterable {
    // From the host.

    /// Load a plugin. head: path, working directory and display name, each ended by a zero byte; body: environment
    /// entries `NAME=value`, each ended by a zero byte; value: the limit of memory in bytes; detail: 1 to close
    /// the sandbox once it is loaded.
    case load = 1
    /// Call function number `function`. head: context; body: payload; value: the deadline in monotonic nanoseconds.
    case invoke = 2
    /// Nobody waits for this invocation any more.
    case cancel = 3
    /// `value` bytes of this invocation's chunks were taken by the client's socket.
    case acknowledge = 4
    /// The answer to service call `value`. detail: 1 for success; body: JSON.
    case serviceAnswer = 5
    /// Calls may begin again, those that were held too; answer with `resumed`. body: the invocations, eight bytes each, that the host has
    /// taken back from a worker that did not read them: they must not begin.
    case resume = 6
    /// End once every open invocation is answered.
    case stop = 7

    // From the worker.

    /// The plugin is loaded. body: its manifest.
    case loaded = 64
    /// The plugin cannot be loaded. body: one sentence that names the file and the reason.
    case refused = 65
    /// The answer of an invocation. detail: ``AnswerKind``; head and body as in hearth.h.
    case answer = 66
    /// A plain HTTP function begins an answer. head: status and headers.
    case startResponse = 67
    /// A part of an answer. body: a JSON value, or bytes.
    case chunk = 68
    /// The plugin calls a service. head: service and method, each ended by a zero byte; body: JSON; value: the call's number.
    case serviceCall = 69
    /// The answer to `resume`: the worker's loop turns.
    case resumed = 70
}

/// What an answer is; the numbers are those of `hearth_answer_kind`.
public enum AnswerKind: UInt8, Sendable, CaseIterable {
    /// body: a callable's result as JSON, empty for null; for an event, that it is dealt with.
    case result = 0
    /// body: an error of the callable protocol.
    case error = 1
    /// A plain HTTP function's whole answer. head: status and headers; body: its bytes.
    case response = 2
    /// The end of an answer that ``FrameKind/startResponse`` began. body: the last bytes, or none.
    case end = 3
}

/// The fixed part of a frame. On the wire, little-endian: size of what follows (32 bits), kind (8), detail (8),
/// zero (16), invocation (64), value (64), function (32), size of the head (32).
public struct FrameHeader: Sendable, Equatable {
    /// Bytes of a header on the wire.
    public static let size = 32
    /// The largest body: of a request, of an answer, of a service call.
    public static let bodySizeMax = 64 << 20
    /// The largest body and head together that a reader takes. The head has room for the context of a call whose header fields have the
    /// 1 MiB that can be configured, each byte of them as long as JSON makes it, with the token and its claims once more.
    public static let payloadSizeMax = bodySizeMax + (8 << 20)

    /// What the frame says, and what its other fields mean.
    public var kind: FrameKind
    /// A small number that the kind explains; 0 where it does not.
    public var detail: UInt8
    /// The number of the function within its plugin.
    public var function: UInt32
    /// The call that it is about; 0 for none.
    public var invocation: InvocationID
    /// A number that the kind explains; 0 where it does not.
    public var value: UInt64

    /// What a kind does not use is 0.
    public init(
        _ kind: FrameKind, invocation: InvocationID = InvocationID(rawValue: 0), value: UInt64 = 0, function: UInt32 = 0, detail: UInt8 = 0
    ) {
        self.kind = kind
        self.detail = detail
        self.function = function
        self.invocation = invocation
        self.value = value
    }
}

/// Why bytes are not frames. The end that sees it gives the connection up.
public enum FrameError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A kind that nobody knows.
    case unknownKind(UInt8)
    /// More than ``FrameHeader/payloadSizeMax``.
    case tooLarge(Int)
    /// The head is said to be larger than the frame.
    case headOutOfBounds(head: Int, payload: Int)

    public var description: String {
        switch self {
        case .unknownKind(let kind): "a frame of unknown kind \(kind)"
        case .tooLarge(let size): "a frame of \(size) bytes, more than \(FrameHeader.payloadSizeMax)"
        case .headOutOfBounds(let head, let payload): "a frame whose head of \(head) bytes exceeds its \(payload) bytes"
        }
    }
}

/// Names one call within one worker: a slot that is used again, and a generation that tells its users apart.
///
/// Both ends find the call's state by its slot, with no hashing. To a plugin it is a number without meaning, never 0.
public struct InvocationID: Hashable, Sendable, CustomStringConvertible {
    /// The number that crosses the boundary.
    public let rawValue: UInt64

    /// One more than the highest slot.
    public static let slotCountMax = 1 << 20

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// - Parameter generation: 1 or more, so that no id is 0.
    @inlinable
    public init(slot: Int, generation: UInt64) { rawValue = generation << 20 | UInt64(truncatingIfNeeded: slot) }

    /// Where its state is kept, from 0 below ``slotCountMax``.
    @inlinable public var slot: Int { Int(rawValue & 0xF_FFFF) }

    /// How often the slot was taken, this call included.
    @inlinable public var generation: UInt64 { rawValue >> 20 }

    public var description: String { "\(rawValue)" }
}
