import CZlib
import Glibc

/// Framing of a request's body, destination of its bytes, and progress.
struct BodyIntake {
    enum Framing {
        case none
        case length(remaining: Int)
        case chunked(ChunkDecoder)
    }

    enum Sink {
        /// The handler has not decided yet.
        case undecided
        case discard
        case collect
        case stream(any HTTPBodyReceiver)
    }

    var framing = Framing.none
    var sink = Sink.undecided
    var inflater: Inflater?
    /// Bytes of the body after decompression, and their limit.
    var count = 0
    var countMax = 0
    /// Bytes taken from the connection since progress was last checked.
    var arrived = 0
    /// Whether the client waits for `100 Continue` before it sends the body.
    var awaitsContinue = false
    /// Whether no more data is wanted now, by the receiver or because there is none.
    var isPaused = false

    init() {}

    /// Framing as the fields of `head` declare it.
    init(_ head: borrowing RequestHead) {
        if head.isChunked {
            framing = .chunked(ChunkDecoder())
        } else if head.contentLength > 0 {
            framing = .length(remaining: head.contentLength)
        }
        awaitsContinue = hasBody && head.expectation == .continueFirst
    }

    var hasBody: Bool {
        if case .none = framing { false } else { true }
    }

    var isComplete: Bool {
        switch framing {
        case .none: true
        case .length(let remaining): remaining == 0
        case .chunked(let decoder): decoder.isComplete
        }
    }

    /// Whether the rest is certainly small enough to be read and discarded.
    func isDiscardable(upTo limit: Int) -> Bool {
        switch framing {
        case .none: true
        case .length(let remaining): !awaitsContinue && remaining <= limit
        case .chunked(let decoder): decoder.isComplete
        }
    }
}

/// Decompresses a `gzip` or `deflate` body incrementally.
///
/// Output comes in pieces of at most 16 KiB, so that a body which grows a thousandfold is stopped at its limit and not after it.
final class Inflater {
    private let stream: UnsafeMutablePointer<z_stream>
    private let room: UnsafeMutablePointer<UInt8>
    private let coding: RequestHead.ContentCoding
    private var isPrepared = false
    private var isEnded = false

    private static let roomCount = 16 * 1024
    /// Memory of one inflater, including zlib's window.
    static let stateBytes = 64 * 1024

    init(coding: RequestHead.ContentCoding) {
        self.coding = coding
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        room = .allocate(capacity: Self.roomCount)
    }

    deinit {
        if isPrepared { inflateEnd(stream) }
        stream.deallocate()
        room.deallocate()
    }

    /// Inflates `bytes` and passes each piece to `body`, which returns a refusal to stop.
    func inflate(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> HTTPRefusal?) -> HTTPRefusal? {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return nil }
        if !isPrepared, !prepare(firstByte: base[0]) { return .badCompression }
        stream.pointee.next_in = UnsafeMutablePointer(mutating: base)
        stream.pointee.avail_in = UInt32(bytes.count)
        repeat {
            if isEnded {
                // A gzip body may have several members (RFC 1952 section 2.2); nothing may follow the end of the other formats.
                guard coding == .gzip, stream.pointee.avail_in > 0, inflateReset(stream) == Z_OK else {
                    return stream.pointee.avail_in > 0 ? .badCompression : nil
                }
                isEnded = false
            }
            stream.pointee.next_out = room
            stream.pointee.avail_out = UInt32(Self.roomCount)
            let code = CZlib.inflate(stream, Z_NO_FLUSH)
            guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { return .badCompression }
            let count = Self.roomCount - Int(stream.pointee.avail_out)
            if count > 0, let refusal = body(UnsafeBufferPointer(start: room, count: count)) { return refusal }
            isEnded = code == Z_STREAM_END
        } while stream.pointee.avail_in > 0 || (stream.pointee.avail_out == 0 && !isEnded)
        return nil
    }

    /// Whether the compressed data was complete. An empty body is.
    var isComplete: Bool { isEnded || !isPrepared }

    /// `deflate` means the zlib format (RFC 9110 section 8.4.1.2), but some clients send raw deflate.
    private func prepare(firstByte: UInt8) -> Bool {
        let windowBits: Int32 =
            switch coding {
            case .gzip: 15 + 16
            default: firstByte & 0x0F == 8 && firstByte >> 4 <= 7 ? 15 : -15
            }
        isPrepared = inflateInit2_(stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        return isPrepared
    }
}
