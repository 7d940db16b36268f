import CZlib
import HearthBytes

@testable import HTTP

/// Frames as a client sends them, and their meaning for a reader.
enum ClientFrames {
    /// A masked frame.
    static func frame(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true, isCompressed: Bool = false) -> [UInt8] {
        let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode]
        if payload.count < 126 {
            bytes.append(0x80 | UInt8(payload.count))
        } else if payload.count < 65_536 {
            bytes += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        } else {
            bytes += [0x80 | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
        }
        return bytes + mask + payload.enumerated().map { $0.element ^ mask[$0.offset & 3] }
    }

    /// A message as a client compresses it (RFC 7692 section 7.2.1).
    static func deflated(_ message: [UInt8], windowBits: Int32 = 15) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(&stream, 6, Z_DEFLATED, -windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var input = message
        var output = [UInt8](repeating: 0, count: message.count + 1000)
        let count = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                deflate(&stream, Z_SYNC_FLUSH)
                return output.count - Int(stream.avail_out)
            }
        }
        return Array(output[..<(count - 4)])
    }

    /// Events of a reader, in words; the last is the reason why it stopped, if it did.
    static func meaning(
        of pieces: [[UInt8]], limits: WebSocketLimits = WebSocketLimits(), compression: SharedCompression? = nil
    ) -> [String] {
        var reader = WebSocketReader(limits: limits, compression: compression)
        var events: [String] = []
        var isClosed = false
        for piece in pieces where !isClosed {
            do throws(WebSocketFault) {
                try piece.withUnsafeBufferPointer { bytes throws(WebSocketFault) in
                    try reader.read(bytes) { event, payload in
                        if case .close = event { isClosed = true }
                        events.append("\(event) \(payload.string())")
                        return !isClosed
                    }
                }
            } catch {
                events.append("fault \(error.code)")
                return events
            }
        }
        return events
    }
}
