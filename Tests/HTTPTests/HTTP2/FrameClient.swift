import CNGHTTP2
import HTTP

/// A client that sends exactly the frames that a test names.
final class FrameClient {
    /// The kinds of frames and codes that tests use.
    enum Kind: UInt8 { case data, head, priority, reset, settings, push, ping, end, window, continuation }

    /// The frames of one stream so far.
    struct Answer {
        var fields: [(name: String, value: String)] = []
        var body: [UInt8] = []
        var dataFrames = 0
        var isEnded = false
        var reset: UInt32?

        var status: Int? { self[":status"].flatMap { Int($0) } }
        var text: String { String(decoding: body, as: UTF8.self) }
        subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
    }

    let raw: RawClient
    /// Kept as long as the client.
    var server: TestServer?
    private let inflater: OpaquePointer?
    private(set) var answers: [UInt32: Answer] = [:]
    /// Bytes by which the server has opened the windows, by stream.
    private(set) var opened: [UInt32: Int] = [:]
    /// The codes with which the server has announced the end of the connection.
    private(set) var endings: [UInt32] = []
    private var next: UInt32 = 1

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    init(port: Int, windowBytes: UInt32? = nil) {
        raw = RawClient(port: port)
        var inflater: OpaquePointer?
        nghttp2_hd_inflate_new(&inflater)
        self.inflater = inflater
        let settings = windowBytes.map { [0, 4] + Self.bytes($0) } ?? []
        raw.send(Self.preface + Self.frame(.settings, 0, 0, settings))
    }

    deinit { nghttp2_hd_inflate_del(inflater) }

    // MARK: Sending

    static func bytes(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * UInt32($0))) } }

    static func frame(_ kind: Kind, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8] = []) -> [UInt8] {
        Array(bytes(UInt32(payload.count)).dropFirst()) + [kind.rawValue, flags] + bytes(stream) + payload
    }

    /// A header block without compression.
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        func text(_ text: String) -> [UInt8] {
            guard text.utf8.count >= 127 else { return [UInt8(text.utf8.count)] + Array(text.utf8) }
            var (size, rest) = ([UInt8(127)], text.utf8.count - 127)
            while rest >= 128 {
                size.append(UInt8(rest % 128) | 0x80)
                rest /= 128
            }
            return size + [UInt8(rest)] + Array(text.utf8)
        }
        return fields.flatMap { [0] + text($0.0) + text($0.1) }
    }

    func send(_ kind: Kind, _ flags: UInt8 = 0, _ stream: UInt32 = 0, _ payload: [UInt8] = []) {
        raw.send(Self.frame(kind, flags, stream, payload))
    }

    /// Sends the head of a request.
    ///
    /// - Returns: its stream.
    func request(_ path: String, method: String = "POST", fields: [(String, String)] = [], ends: Bool = true) -> UInt32 {
        defer { next += 2 }
        let block = Self.block([(":method", method), (":scheme", "http"), (":authority", "a"), (":path", path)] + fields)
        send(.head, ends ? 5 : 4, next, block)
        return next
    }

    func data(_ stream: UInt32, _ bytes: [UInt8], ends: Bool = false) { send(.data, ends ? 1 : 0, stream, bytes) }

    func open(_ stream: UInt32, _ bytes: UInt32) { send(.window, 0, stream, Self.bytes(bytes)) }

    // MARK: Receiving

    /// Reads a frame.
    ///
    /// - Returns: its kind; nil at the end of the connection, or when nothing has come for long.
    @discardableResult
    func readFrame() -> Kind? {
        let head = raw.read(9)
        guard head.count == 9, let kind = Kind(rawValue: head[3]) else { return nil }
        let payload = raw.read(Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2]))
        note(kind, flags: head[4], Self.number(head[5...]), payload)
        return kind
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }

    private func note(_ kind: Kind, flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) {
        switch kind {
        case .head:
            answers[stream, default: Answer()].fields += inflate(payload)
            if flags & 1 != 0 { answers[stream, default: Answer()].isEnded = true }
        case .data:
            answers[stream, default: Answer()].body += payload
            answers[stream, default: Answer()].dataFrames += 1
            if flags & 1 != 0 { answers[stream, default: Answer()].isEnded = true }
        case .reset: answers[stream, default: Answer()].reset = Self.number(payload[...])
        case .window: opened[stream, default: 0] += Int(Self.number(payload[...]))
        case .end: endings.append(Self.number(payload[4...]))
        case .ping where flags & 1 == 0: send(.ping, 1, 0, payload)
        case .settings where flags & 1 == 0: send(.settings, 1)
        default: break
        }
    }

    private func inflate(_ block: [UInt8]) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        var rest = block[...]
        while true {
            var field = nghttp2_nv()
            var flags: Int32 = 0
            let used = rest.withUnsafeBufferPointer { nghttp2_hd_inflate_hd2(inflater, &field, &flags, $0.baseAddress, $0.count, 1) }
            guard used >= 0 else { return fields }
            rest = rest.dropFirst(used)
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                fields.append(
                    (
                        String(decoding: UnsafeBufferPointer(start: field.name, count: field.namelen), as: UTF8.self),
                        String(decoding: UnsafeBufferPointer(start: field.value, count: field.valuelen), as: UTF8.self)
                    ))
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
                nghttp2_hd_inflate_end_headers(inflater)
                return fields
            }
        }
    }

    /// Reads until `condition` holds or nothing more comes.
    @discardableResult
    func read(until condition: () -> Bool) -> Bool {
        while !condition() {
            if readFrame() == nil { return false }
        }
        return true
    }

    /// Reads until the answer on a stream is complete or the stream is reset.
    func answer(_ stream: UInt32) -> Answer {
        read { answers[stream]?.isEnded == true || answers[stream]?.reset != nil }
        return answers[stream] ?? Answer()
    }

    /// Reads until the server has handled everything that was sent.
    func settle() {
        send(.ping, 0, 0, Array("12345678".utf8))
        while let kind = readFrame(), kind != .ping {}
    }

    /// Reads to the end of the connection.
    func readToEnd() { while readFrame() != nil {} }
}
