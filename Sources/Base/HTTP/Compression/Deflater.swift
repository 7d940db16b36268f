import CZlib
import HearthBytes

/// Compresses messages of WebSockets, each on its own (RFC 7692 section 7.2.1).
///
/// Uses level 1, because it runs on the thread of a loop: for a message of 11 KiB of JSON, level 1 takes 0.1 ms, and level 6 takes 0.28 ms for an
/// output that is an eighth smaller (`docs/decisions/websocket-compression.md`).
final class Deflater {
    private let stream: UnsafeMutablePointer<z_stream>

    /// The windows that zlib can do in this format: 256 bytes are not among them.
    static let windowBits = 9...15
    private static let level: Int32 = 1
    private static let memoryLevel: Int32 = 8

    private init(_ stream: UnsafeMutablePointer<z_stream>) { self.stream = stream }

    /// A deflater with a window of 2 to the power of `windowBits` bytes; nil if there is no memory.
    static func make(windowBits: Int) -> Deflater? {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let code = deflateInit2_(
            stream, level, Z_DEFLATED, -Int32(windowBits), memoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else {
            stream.deallocate()
            return nil
        }
        return Deflater(stream)
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Appends the compressed message to `output`.
    ///
    /// - Returns: whether it is complete.
    func compress(_ message: UnsafeRawBufferPointer, into output: inout ByteBuffer) -> Bool {
        guard deflateReset(stream) == Z_OK else { return false }
        stream.pointee.next_in = UnsafeMutablePointer(mutating: message.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(message.count)
        let count = output.count
        output.appendUninitialized(minimum: Int(deflateBound(stream, UInt(message.count))) + 16) { room in
            stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = UInt32(min(room.count, Int(UInt32.max)))
            let offered = Int(stream.pointee.avail_out)
            let code = deflate(stream, Z_SYNC_FLUSH)
            return code == Z_OK && stream.pointee.avail_in == 0 && stream.pointee.avail_out > 0 ? offered - Int(stream.pointee.avail_out) : 0
        }
        // The end of a flush is always the same, and left out.
        guard output.count - count > 4 else { return false }
        output.truncate(to: output.count - 4)
        return true
    }
}
