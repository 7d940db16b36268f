import CNGHTTP2
import EventLoop
import HearthBytes

/// Limits for connections that speak HTTP/2, beside those of ``HTTPLimits``.
public struct HTTP2Limits: Sendable {
    /// Unfinished requests of a connection. Further ones are refused before they start.
    public var streamsMax = 100
    /// Bytes of a body that a client may send before the server has taken them, for each request.
    public var windowBytes = 256 * 1024
    /// Requests that a client may cancel, or that end in an error of the protocol, before the connection is closed. A tenth of them is granted
    /// anew each second.
    public var resetsMax = 200
    /// Frames that carry neither requests nor data, such as pings, before the connection is closed. A twentieth of them is granted anew each
    /// second, and more with each request and each frame of data.
    public var idleFramesMax = 1000
    /// Bytes of the fields of one request after decompression, in multiples of ``HTTPLimits/headBytesMax``, before the connection is closed
    /// instead of the request being refused.
    static let headBytesFactor = 4

    /// The defaults, for a server on the open Internet.
    public init() {}
}

/// Counters of HTTP/2. Plain numbers, on the server's loop only.
public struct HTTP2Figures: Sendable {
    /// Why the server has announced the end of a connection.
    public enum Ending: String, Sendable, CaseIterable {
        /// Nothing was requested for a time.
        case idle
        /// The server stops, or another process takes over.
        case stopping
        /// The client has violated the protocol.
        case violation
        /// Too many frames without requests or data.
        case flood
        /// Too many cancelled requests.
        case resets
        /// Fields that are too many or too slow.
        case fields
    }

    /// Connections that have spoken HTTP/2.
    public internal(set) var connections = 0
    /// Those that are open.
    public internal(set) var connectionsOpen = 0
    /// Requests, including refused ones.
    public internal(set) var streams = 0
    /// Those that are not finished.
    public internal(set) var streamsOpen = 0
    /// Requests that clients have cancelled.
    public internal(set) var resetsByClients = 0
    /// Requests that the server has ended with an error of the protocol, or refused before they started.
    public internal(set) var resetsByServer = 0
    private var endings = InlineArray<6, Int>(repeating: 0)

    /// All counters at 0.
    public init() {}

    /// Connections whose end was announced for this reason.
    public func count(of ending: Ending) -> Int { endings[Self.index(of: ending)] }

    mutating func count(_ ending: Ending) { endings[Self.index(of: ending)] += 1 }

    private static func index(of ending: Ending) -> Int {
        switch ending {
        case .idle: 0
        case .stopping: 1
        case .violation: 2
        case .flood: 3
        case .resets: 4
        case .fields: 5
        }
    }
}

/// HTTP/2 (RFC 9113) for the connections of a server whose clients ask for it: in the TLS handshake, or with the preface of HTTP/2.
///
/// Each stream of a connection is an exchange of the server like any other. Confined to the server's loop.
public final class HTTP2Service: AlternativeProtocol {
    /// Counters.
    public internal(set) var figures = HTTP2Figures()

    let limits: HTTP2Limits
    let callbacks: OpaquePointer
    let options: OpaquePointer
    /// Room for the fields of one answer.
    var fields: [nghttp2_nv] = []
    let statusDigits = UnsafeMutablePointer<UInt8>.allocate(capacity: 3)

    var preface: StaticString { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" }

    private init?(_ limits: HTTP2Limits) {
        self.limits = limits
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&options) == 0, let callbacks, let options else { return nil }
        self.callbacks = callbacks
        self.options = options
        HTTP2Connection.set(callbacks)
        // Windows are opened as bodies are taken.
        nghttp2_option_set_no_auto_window_update(options, 1)
        // Closed streams are not remembered: they only served the tree of priorities.
        nghttp2_option_set_no_closed_streams(options, 1)
        nghttp2_option_set_max_reserved_remote_streams(options, 0)
        nghttp2_option_set_max_settings(options, 32)
        nghttp2_option_set_max_outbound_ack(options, 1000)
        // Each piece in which the first nine bytes of such a frame arrive counts, so this is at least eight frames.
        nghttp2_option_set_max_continuations(options, 72)
    }

    deinit {
        nghttp2_session_callbacks_del(callbacks)
        nghttp2_option_del(options)
        statusDigits.deallocate()
    }

    func start(on connection: HTTPConnection) -> any UpgradedProtocol { HTTP2Connection(connection, self) }

    fileprivate static func make(_ limits: HTTP2Limits) -> HTTP2Service? { HTTP2Service(limits) }
}

extension HTTPServer {
    /// Speaks HTTP/2 too, from the next connection on.
    ///
    /// - Returns: the counters; nil if there is no memory.
    @discardableResult
    public func offerHTTP2(_ limits: HTTP2Limits = HTTP2Limits()) -> HTTP2Service? {
        let service = HTTP2Service.make(limits)
        alternative = service
        return service
    }
}
