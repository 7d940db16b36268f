import CZlib

/// Compresses or decompresses gzip data (RFC 1952) incrementally.
public final class Gzip {
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let compresses: Bool
    private var isOver = false
    private var room = [UInt8](repeating: 0, count: 128 * 1024)

    /// The first bytes of a compressed file.
    public static let mark: [UInt8] = [0x1F, 0x8B]

    /// A compressor or decompressor at the start of the data.
    public init(compresses: Bool) {
        self.compresses = compresses
        stream.initialize(to: z_stream())
        let size = Int32(MemoryLayout<z_stream>.size)
        // 16 added to the window size selects the gzip format.
        let code = compresses
            ? deflateInit2_(stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
            : inflateInit2_(stream, 15 + 16, ZLIB_VERSION, size)
        precondition(code == Z_OK, "zlib refuses only parameters that cannot be, and programs without memory")
    }

    deinit {
        if compresses { deflateEnd(stream) } else { inflateEnd(stream) }
        stream.deallocate()
    }

    /// Processes the next bytes.
    ///
    /// - Parameters:
    ///   - isLast: whether the data ends here.
    ///   - take: gets the output.
    /// - Throws: `ClientFailure` for data that is not gzip or is truncated.
    public func work(_ bytes: [UInt8], isLast: Bool, _ take: ([UInt8]) throws(ClientFailure) -> Void) throws(ClientFailure) {
        var used = 0
        while !isOver {
            var code = Z_OK
            let made = bytes.withUnsafeBufferPointer { input in
                room.withUnsafeMutableBufferPointer { output in
                    // zlib takes a mutable pointer but only reads through it.
                    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress.map { $0 + used })
                    stream.pointee.avail_in = UInt32(bytes.count - used)
                    stream.pointee.next_out = output.baseAddress
                    stream.pointee.avail_out = UInt32(output.count)
                    code = compresses ? deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH) : inflate(stream, Z_NO_FLUSH)
                    used = bytes.count - Int(stream.pointee.avail_in)
                    return output.count - Int(stream.pointee.avail_out)
                }
            }
            if made > 0 { try take(Array(room[..<made])) }
            if code == Z_STREAM_END { isOver = true }
            guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
                throw ClientFailure(.invalidInput, "the backup is damaged: it cannot be decompressed")
            }
            if made == 0 || stream.pointee.avail_out > 0 && used == bytes.count { break }
        }
        if isLast, !isOver { throw ClientFailure(.invalidInput, "the backup is not complete: its end is missing") }
    }
}
