import HearthBytes

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

    /// Begins a frame whose head and body are appended next; ends with ``finishFrame(_:headSize:)``.
    ///
    /// - Returns: where it begins, for the other two calls.
    @inlinable
    public mutating func beginFrame(_ header: FrameHeader) -> Int {
        let start = count
        append(header: header, payloadSize: 0, headSize: 0)
        return start
    }

    /// The bytes of head and body appended since ``beginFrame(_:)``.
    @inlinable
    public borrowing func payloadSize(ofFrameAt start: Int) -> Int { count - start - FrameHeader.size }

    /// Writes the sizes into a frame begun at `start`.
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
