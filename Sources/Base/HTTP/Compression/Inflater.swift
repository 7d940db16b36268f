import CZlib
import Glibc

/// Outcome of giving data to an `Inflater`.
enum Inflation<Refusal> {
    case taken
    /// The data is not in the expected format.
    case invalid
    /// The receiver of the output wants no more.
    case refused(Refusal)
}

/// Decompresses a body or a message incrementally.
///
/// Output comes in pieces of at most 16 KiB, so that data which grows a thousandfold is stopped at its limit and not after it.
final class Inflater {
    enum Format {
        /// The content coding `gzip`.
        case gzip
        /// The content coding `deflate`.
        case deflate
        /// Messages of a WebSocket (RFC 7692 section 7.2.2), one after the other.
        case message
    }

    private let stream: UnsafeMutablePointer<z_stream>
    private let room: UnsafeMutablePointer<UInt8>
    private let format: Format
    private var isPrepared = false
    private var isEnded = false

    private static let roomCount = 16 * 1024
    /// Memory of one inflater, including zlib's window.
    static let stateBytes = 64 * 1024

    init(_ format: Format) {
        self.format = format
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
    func inflate<Refusal>(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Refusal?) -> Inflation<Refusal> {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return .taken }
        if !isPrepared, !prepare(firstByte: base[0]) { return .invalid }
        stream.pointee.next_in = UnsafeMutablePointer(mutating: base)
        stream.pointee.avail_in = UInt32(bytes.count)
        repeat {
            if isEnded {
                // A gzip body may have several members (RFC 1952 section 2.2), and a message several final blocks (RFC 7692 section 7.2.3.4);
                // nothing may follow the end of the other format.
                guard format != .deflate, stream.pointee.avail_in > 0, inflateReset(stream) == Z_OK else {
                    return stream.pointee.avail_in > 0 ? .invalid : .taken
                }
                isEnded = false
            }
            stream.pointee.next_out = room
            stream.pointee.avail_out = UInt32(Self.roomCount)
            let code = CZlib.inflate(stream, Z_NO_FLUSH)
            let count = Self.roomCount - Int(stream.pointee.avail_out)
            // Also the output before an error, so that the outcome does not depend on how the data was cut.
            if count > 0, let refusal = body(UnsafeBufferPointer(start: room, count: count)) { return .refused(refusal) }
            guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { return .invalid }
            isEnded = code == Z_STREAM_END
        } while stream.pointee.avail_in > 0 || (stream.pointee.avail_out == 0 && !isEnded)
        return .taken
    }

    /// Whether the compressed data was complete. An empty body is.
    var isComplete: Bool { isEnded || !isPrepared }

    /// `deflate` means the zlib format (RFC 9110 section 8.4.1.2), but some clients send raw deflate.
    private func prepare(firstByte: UInt8) -> Bool {
        let windowBits: Int32 =
            switch format {
            case .gzip: 15 + 16
            case .deflate: firstByte & 0x0F == 8 && firstByte >> 4 <= 7 ? 15 : -15
            case .message: -15
            }
        isPrepared = inflateInit2_(stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        return isPrepared
    }

    // MARK: Messages

    /// Ends a message: adds the bytes that its sender has left out (RFC 7692 section 7.2.2).
    ///
    /// - Returns: invalid where the message was cut off.
    func endMessage<Refusal>(_ body: (UnsafeBufferPointer<UInt8>) -> Refusal?) -> Inflation<Refusal> {
        let outcome = [0x00, 0x00, 0xFF, 0xFF].withUnsafeBufferPointer { inflate($0, body) }
        guard case .taken = outcome else { return outcome }
        // The bit that zlib sets between two blocks.
        return !isEnded && stream.pointee.data_type & 128 != 0 ? .taken : .invalid
    }

    /// Forgets the last message.
    func reset() {
        isEnded = false
        if isPrepared { inflateReset(stream) }
    }
}
