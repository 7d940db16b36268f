/// The type of a frame. Host and worker are the same build, so the numbers may change between versions.
public enum FrameKind: UInt8, Sendable, CaseIterable {
    // Host to worker.

    /// Load a plugin. head: path, working directory, display name, settings of outgoing requests and further readable paths, each
    /// zero-terminated; body: environment entries `NAME=value`, each zero-terminated; value: the memory limit in bytes; detail: 1 to close the
    /// sandbox after loading.
    case load = 1
    /// Call function number `function`. head: its name, ended by a zero byte, and the context; body: payload; value: the deadline in
    /// monotonic nanoseconds; detail: ``FrameHeader/takesChunks`` and ``FrameHeader/hasRawContext``.
    case invoke = 2
    /// Cancel an invocation: its client has left.
    case cancel = 3
    /// The client's socket has taken `value` bytes of this invocation's chunks.
    case acknowledge = 4
    /// The answer to service call `value`. detail: 1 for success; body: JSON.
    case serviceAnswer = 5
    /// Start calls again, including held ones; answer with `resumed`. body: the invocations, eight bytes each, that the host has taken back
    /// because the worker had not read them: do not start these.
    case resume = 6
    /// Exit once every open invocation is answered.
    case stop = 7

    // Worker to host.

    /// The plugin is loaded. body: its manifest.
    case loaded = 64
    /// The plugin cannot be loaded. body: one sentence with the file and the reason.
    case refused = 65
    /// The answer of an invocation. detail: ``AnswerKind``; head and body as in hearth.h.
    case answer = 66
    /// A plain HTTP function begins an answer. head: status and headers.
    case startResponse = 67
    /// A part of an answer. body: a JSON value, or bytes.
    case chunk = 68
    /// The plugin calls a service. head: service and method, each ended by a zero byte; body: JSON; value: the call's number.
    case serviceCall = 69
    /// The answer to `resume`: the worker's loop turns again.
    case resumed = 70
}

/// The type of an answer, with the numbers of `hearth_answer_kind`.
public enum AnswerKind: UInt8, Sendable, CaseIterable {
    /// body: the result of a callable as JSON, empty for null. For an event: processed.
    case result = 0
    /// body: an error of the callable protocol.
    case error = 1
    /// The whole answer of a plain HTTP function. head: status and headers; body: its bytes.
    case response = 2
    /// The end of an answer that ``FrameKind/startResponse`` began. body: the last bytes, or none.
    case end = 3
}

/// The fixed part of a frame. On the wire, little-endian: size of the rest (32 bits), kind (8), detail (8), zero (16), invocation (64),
/// value (64), function (32), size of the head (32).
public struct FrameHeader: Sendable, Equatable {
    /// Bytes of a header on the wire.
    public static let size = 32
    /// The largest body of a request, of an answer, or of a service call.
    public static let bodySizeMax = 64 << 20
    /// The largest head and body together. The head must hold the context of a call with 1 MiB of header fields (the configurable maximum),
    /// with the longest JSON escape for each byte, plus the token and its claims.
    public static let payloadSizeMax = bodySizeMax + (8 << 20)

    /// A bit in the detail of `invoke`: the client takes chunks of the answer.
    public static let takesChunks: UInt8 = 1
    /// A bit in the detail of `invoke`: the context has the raw form.
    public static let hasRawContext: UInt8 = 2

    /// The type, which defines the meaning of the other fields.
    public var kind: FrameKind
    /// A small number, defined by the kind; 0 if unused.
    public var detail: UInt8
    /// The number of the function within its plugin.
    public var function: UInt32
    /// The invocation; 0 for none.
    public var invocation: InvocationID
    /// A number, defined by the kind; 0 if unused.
    public var value: UInt64

    /// A header; fields that the kind does not use are 0.
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

/// A protocol error. The end that detects it closes the connection.
public enum FrameError: Error, Equatable, Sendable, CustomStringConvertible {
    /// An unknown kind.
    case unknownKind(UInt8)
    /// More than ``FrameHeader/payloadSizeMax``.
    case tooLarge(Int)
    /// The size of the head exceeds that of the frame.
    case headOutOfBounds(head: Int, payload: Int)

    public var description: String {
        switch self {
        case .unknownKind(let kind): "a frame of unknown kind \(kind)"
        case .tooLarge(let size): "a frame of \(size) bytes, more than \(FrameHeader.payloadSizeMax)"
        case .headOutOfBounds(let head, let payload): "a frame whose head of \(head) bytes exceeds its \(payload) bytes"
        }
    }
}
