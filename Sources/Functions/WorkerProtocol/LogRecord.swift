import HearthBytes

/// The origin of a log record.
public enum LogSource: UInt8, Sendable {
    /// The function's logger: a level, a message and fields.
    case logger = 0
    /// Printed to standard output.
    case standardOutput = 1
    /// Printed to standard error.
    case standardError = 2
}

/// The header of a record that a worker writes to its log descriptor.
///
/// On the wire, little-endian: size of message and fields (32 bits), size of the message (32), invocation (64), source (8), level (8), zero
/// (16), function (32); then the message, then the fields as a JSON object or nothing.
public struct LogRecordHeader: Sendable, Equatable {
    /// Bytes of a header on the wire.
    public static let size = 24
    /// The largest payload of a record; longer text is split into several.
    public static let payloadSizeMax = 64 << 10

    /// The invocation that wrote it; 0 if unknown.
    public var invocation: InvocationID
    /// The origin.
    public var source: LogSource
    /// `hearth_log_level`, 0 (trace) to 6 (critical).
    public var level: UInt8
    /// The function of the invocation, as in ``FrameHeader``; `UInt32.max` if unknown.
    public var function: UInt32

    /// A header; `level` is a number of `hearth_log_level`.
    public init(invocation: InvocationID, source: LogSource, level: UInt8, function: UInt32 = .max) {
        self.invocation = invocation
        self.source = source
        self.level = level
        self.function = function
    }
}

extension ByteBuffer {
    /// Appends a record. A message that is too long is cut; fields that do not fit beside it are left out.
    public mutating func append(record header: LogRecordHeader, message: Span<UInt8>, fields: Span<UInt8>) {
        let limit = LogRecordHeader.payloadSizeMax
        let messageSize = min(message.count, limit)
        let fieldsSize = messageSize + fields.count <= limit ? fields.count : 0
        append(littleEndian: UInt32(messageSize + fieldsSize))
        append(littleEndian: UInt32(messageSize))
        append(littleEndian: header.invocation.rawValue)
        append(littleEndian: UInt64(header.source.rawValue) | UInt64(header.level) << 8 | UInt64(header.function) << 32)
        append(message.extracting(0..<messageSize))
        append(fields.extracting(0..<fieldsSize))
    }
}

/// Extracts records from a worker's log stream, which arrives in arbitrary pieces.
public struct LogRecordReader: ~Copyable {
    private var gathered = ByteBuffer()

    /// A reader at the start of a stream.
    public init() {}

    /// Passes every record that `bytes` completes to `receive`: header, message, fields.
    ///
    /// - Returns: false if the bytes are not records; the stream cannot be used afterwards.
    public mutating func read(_ bytes: Span<UInt8>, _ receive: (LogRecordHeader, Span<UInt8>, Span<UInt8>) -> Void) -> Bool {
        gathered.append(bytes)
        while gathered.count >= LogRecordHeader.size {
            guard let size = Self.recordSize(gathered.bytes) else { return false }
            guard gathered.count >= size else { break }
            Self.take(gathered.bytes.extracting(0..<size), receive)
            gathered.consume(size)
        }
        return true
    }

    private static func recordSize(_ bytes: Span<UInt8>) -> Int? {
        let payload = Int(bytes.littleEndian(at: 0, as: UInt32.self))
        let message = Int(bytes.littleEndian(at: 4, as: UInt32.self))
        guard payload <= LogRecordHeader.payloadSizeMax, message <= payload, LogSource(rawValue: bytes[16]) != nil else { return nil }
        return LogRecordHeader.size + payload
    }

    private static func take(_ record: Span<UInt8>, _ receive: (LogRecordHeader, Span<UInt8>, Span<UInt8>) -> Void) {
        let messageEnd = LogRecordHeader.size + Int(record.littleEndian(at: 4, as: UInt32.self))
        let header = LogRecordHeader(
            invocation: InvocationID(rawValue: record.littleEndian(at: 8, as: UInt64.self)),
            source: LogSource(rawValue: record[16]) ?? .standardError, level: record[17],
            function: record.littleEndian(at: 20, as: UInt32.self))
        receive(header, record.extracting(LogRecordHeader.size..<messageEnd), record.extracting(messageEnd..<record.count))
    }
}
