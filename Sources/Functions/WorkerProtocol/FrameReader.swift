import HearthBytes

/// Takes frames out of a stream of bytes.
///
/// Frames that lie whole in what was read are handed on in place; only one that is cut is gathered.
public struct FrameReader: ~Copyable {
    private var gathered = ByteBuffer()

    /// Nothing was read yet.
    public init() {}

    /// Bytes of an unfinished frame that wait for the rest of it.
    public var pendingBytes: Int { gathered.count }

    /// How large the unfinished frame will be, its header included; 0 where there is none or its header is not here yet.
    public var unfinishedFrameBytes: Int {
        guard gathered.count >= FrameHeader.size, let layout = try? Layout(gathered.bytes) else { return 0 }
        return layout.size
    }

    /// Hands every frame that is complete with `bytes` to `receive`, in order: header, head, body.
    ///
    /// - Throws: what ``FrameError`` lists; the stream is of no use then.
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
            // A reader that is called again from `receive` must not see this frame twice.
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

    /// How many bytes must be appended before the next decision: to know the size, then to have the frame. 0 when it is whole.
    private static func missing(in bytes: Span<UInt8>) throws(FrameError) -> Int {
        guard bytes.count >= FrameHeader.size else { return FrameHeader.size - bytes.count }
        return max(0, try Layout(bytes).size - bytes.count)
    }

    /// Hands on the frame at the front.
    ///
    /// - Returns: its size; 0 when it is not whole.
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

    /// What a header says of its frame, checked.
    private struct Layout {
        let kind: FrameKind
        let headSize: Int
        /// Bytes of the whole frame.
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

extension Span<UInt8> {
    /// The number stored at `offset`, the lowest byte first.
    @inlinable
    public func littleEndian<T: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: T.Type) -> T {
        precondition(offset >= 0 && offset + MemoryLayout<T>.size <= count)
        return withUnsafeBytes { T(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: T.self)) }
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
