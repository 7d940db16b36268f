import HearthBytes

/// Extracts frames from a stream of bytes.
///
/// Frames that are complete in the input are passed on in place; only a partial one is collected.
public struct FrameReader: ~Copyable {
    private var gathered = ByteBuffer()

    /// A reader at the start of a stream.
    public init() {}

    /// Bytes of the incomplete frame.
    public var pendingBytes: Int { gathered.count }

    /// The size of the incomplete frame, with its header; 0 if there is none or its header is incomplete.
    public var unfinishedFrameBytes: Int {
        guard gathered.count >= FrameHeader.size, let layout = try? Layout(gathered.bytes) else { return 0 }
        return layout.size
    }

    /// Passes every frame that `bytes` completes to `receive`, in order: header, head, body.
    ///
    /// - Throws: ``FrameError``; the stream cannot be used afterwards.
    public mutating func read(
        _ bytes: Span<UInt8>, _ receive: (FrameHeader, Span<UInt8>, Span<UInt8>) -> Void
    ) throws(FrameError) {
        var rest = bytes
        while !gathered.isEmpty {
            let missing = try Self.missing(in: gathered.bytes)
            let step = min(missing, rest.count)
            gathered.append(rest.extracting(0..<step))
            rest = rest.extracting(step..<rest.count)
            guard try Self.missing(in: gathered.bytes) == 0 else {
                if rest.isEmpty { return }
                continue
            }
            // Moves the frame out, in case `receive` calls the reader again.
            var frame = ByteBuffer()
            swap(&frame, &gathered)
            _ = try Self.takeFrame(frame.bytes, receive)
        }
        while !rest.isEmpty {
            let size = try Self.takeFrame(rest, receive)
            if size == 0 {
                gathered.append(rest)
                return
            }
            rest = rest.extracting(size..<rest.count)
        }
    }

    /// The number of bytes to append before the size is known, then before the frame is complete. 0 if it is complete.
    private static func missing(in bytes: Span<UInt8>) throws(FrameError) -> Int {
        guard bytes.count >= FrameHeader.size else { return FrameHeader.size - bytes.count }
        return max(0, try Layout(bytes).size - bytes.count)
    }

    /// Passes on the frame at the front.
    ///
    /// - Returns: its size; 0 if it is incomplete.
    private static func takeFrame(
        _ bytes: Span<UInt8>, _ receive: (FrameHeader, Span<UInt8>, Span<UInt8>) -> Void
    ) throws(FrameError) -> Int {
        guard bytes.count >= FrameHeader.size else { return 0 }
        let layout = try Layout(bytes)
        guard bytes.count >= layout.size else { return 0 }
        let header = FrameHeader(
            layout.kind, invocation: InvocationID(rawValue: bytes.littleEndian(at: 8, as: UInt64.self)),
            value: bytes.littleEndian(at: 16, as: UInt64.self), function: bytes.littleEndian(at: 24, as: UInt32.self), detail: bytes[5])
        let headEnd = FrameHeader.size + layout.headSize
        receive(header, bytes.extracting(FrameHeader.size..<headEnd), bytes.extracting(headEnd..<layout.size))
        return layout.size
    }

    /// The validated sizes of a frame.
    private struct Layout {
        let kind: FrameKind
        let headSize: Int
        /// Size of the whole frame.
        let size: Int

        init(_ header: Span<UInt8>) throws(FrameError) {
            let payload = Int(header.littleEndian(at: 0, as: UInt32.self))
            guard payload <= FrameHeader.payloadSizeMax else { throw .tooLarge(payload) }
            guard let kind = FrameKind(rawValue: header[4]) else { throw .unknownKind(header[4]) }
            headSize = Int(header.littleEndian(at: 28, as: UInt32.self))
            guard headSize <= payload else { throw .headOutOfBounds(head: headSize, payload: payload) }
            self.kind = kind
            size = FrameHeader.size + payload
        }
    }
}

extension ByteBuffer {
    /// Appends a whole frame.
    @inlinable
    public mutating func append(frame header: FrameHeader, head: Span<UInt8>, body: Span<UInt8>) {
        reserve(FrameHeader.size + head.count + body.count)
        append(header: header, payloadSize: head.count + body.count, headSize: head.count)
        append(head)
        append(body)
    }

    /// Appends a frame without head and body.
    @inlinable
    public mutating func append(frame header: FrameHeader) {
        append(header: header, payloadSize: 0, headSize: 0)
    }

    /// Begins a frame. Append head and body, then call ``finishFrame(_:headSize:)``.
    ///
    /// - Returns: the start of the frame, for the other two calls.
    @inlinable
    public mutating func beginFrame(_ header: FrameHeader) -> Int {
        let start = count
        append(header: header, payloadSize: 0, headSize: 0)
        return start
    }

    /// The bytes of head and body appended since ``beginFrame(_:)``.
    @inlinable
    public borrowing func payloadSize(ofFrameAt start: Int) -> Int { count - start - FrameHeader.size }

    /// Writes the sizes into the frame that begins at `start`.
    @inlinable
    public mutating func finishFrame(_ start: Int, headSize: Int) {
        overwrite(littleEndian: UInt32(payloadSize(ofFrameAt: start)), at: start)
        overwrite(littleEndian: UInt32(headSize), at: start + 28)
    }

    @usableFromInline
    mutating func append(header: FrameHeader, payloadSize: Int, headSize: Int) {
        append(littleEndian: UInt32(payloadSize))
        append(littleEndian: UInt32(header.kind.rawValue) | UInt32(header.detail) << 8)
        append(littleEndian: header.invocation.rawValue)
        append(littleEndian: header.value)
        append(littleEndian: header.function)
        append(littleEndian: UInt32(headSize))
    }
}
