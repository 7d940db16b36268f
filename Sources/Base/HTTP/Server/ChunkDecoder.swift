/// Decodes the chunked coding of a body incrementally (RFC 9112 section 7.1).
///
/// Stricter than the grammar where implementations differ: lines end with CR LF only, sizes have at most fifteen digits, extensions and
/// trailers are bounded, checked and skipped.
struct ChunkDecoder {
    private enum State {
        case sizeStart, size, extensions, sizeLF
        case data, dataCR, dataLF
        case trailerStart, trailerName, trailerValue, trailerLF, endLF
        case complete
    }

    private var state = State.sizeStart
    private var remaining = 0
    private var digits = 0
    private var overhead = 0

    /// The most bytes of extensions, and of trailers, of one body.
    static let overheadMax = 8 * 1024

    var isComplete: Bool { state == .complete }

    enum Outcome {
        /// `consumed` bytes were taken off the front; the last `dataCount` of them are the body's.
        case progress(consumed: Int, dataCount: Int)
        case refused(HTTPRefusal)
    }

    /// Removes framing from the front, up to and including the next run of data, or everything.
    mutating func next(_ bytes: UnsafeBufferPointer<UInt8>) -> Outcome {
        var index = 0
        while index < bytes.count, state != .complete {
            if state == .data {
                let count = min(remaining, bytes.count - index)
                remaining -= count
                if remaining == 0 { state = .dataCR }
                return .progress(consumed: index + count, dataCount: count)
            }
            if let refusal = step(bytes[index]) { return .refused(refusal) }
            index += 1
        }
        return .progress(consumed: index, dataCount: 0)
    }

    private mutating func step(_ byte: UInt8) -> HTTPRefusal? {
        switch state {
        case .sizeStart, .size: return stepSize(byte)
        case .extensions:
            if byte == 0x0D { state = .sizeLF } else { return skip(byte) }
        case .sizeLF:
            guard byte == 0x0A else { return .badRequest("a chunk size line does not end with CR LF") }
            digits = 0
            state = remaining == 0 ? .trailerStart : .data
        case .dataCR:
            guard byte == 0x0D else { return .badRequest("a chunk is longer than its size") }
            state = .dataLF
        case .dataLF:
            guard byte == 0x0A else { return .badRequest("a chunk does not end with CR LF") }
            state = .sizeStart
        case .trailerStart, .trailerName, .trailerValue, .trailerLF, .endLF: return stepTrailer(byte)
        case .data, .complete: break
        }
        return nil
    }

    private mutating func stepSize(_ byte: UInt8) -> HTTPRefusal? {
        if let digit = Self.hexValue(byte) {
            digits += 1
            guard digits <= 15 else { return .badRequest("a chunk size is too large") }
            remaining = (state == .sizeStart ? 0 : remaining) * 16 + digit
            state = .size
            return nil
        }
        guard state == .size else { return .badRequest("a chunk size is not valid") }
        switch byte {
        case 0x0D: state = .sizeLF
        case UInt8(ascii: ";"): state = .extensions
        default: return .badRequest("a chunk size is not valid")
        }
        return nil
    }

    private mutating func stepTrailer(_ byte: UInt8) -> HTTPRefusal? {
        switch state {
        case .trailerStart where byte == 0x0D: state = .endLF
        case .trailerStart:
            guard FieldSyntax.isToken(byte) else { return .badRequest("a trailer field is not valid") }
            state = .trailerName
            return skip(byte)
        case .trailerName where byte == UInt8(ascii: ":"): state = .trailerValue
        case .trailerName:
            guard FieldSyntax.isToken(byte) else { return .badRequest("a trailer field is not valid") }
            return skip(byte)
        case .trailerValue where byte == 0x0D: state = .trailerLF
        case .trailerValue: return skip(byte)
        case .trailerLF:
            guard byte == 0x0A else { return .badRequest("a trailer field does not end with CR LF") }
            state = .trailerStart
        default:
            guard byte == 0x0A else { return .badRequest("the trailer does not end with CR LF") }
            state = .complete
        }
        return nil
    }

    private mutating func skip(_ byte: UInt8) -> HTTPRefusal? {
        guard byte >= 0x20 && byte != 0x7F || byte == 0x09 else {
            return .badRequest("a chunk's extension or trailer contains a control character")
        }
        overhead += 1
        return overhead > Self.overheadMax
            ? HTTPRefusal(.headerFieldsTooLarge, "chunk extensions and trailers are too long") : nil
    }

    private static func hexValue(_ byte: UInt8) -> Int? {
        switch byte {
        case 0x30...0x39: Int(byte) - 0x30
        case 0x41...0x46: Int(byte) - 0x41 + 10
        case 0x61...0x66: Int(byte) - 0x61 + 10
        default: nil
        }
    }
}
