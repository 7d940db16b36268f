import HearthBytes
import FuzzSupport
import Testing

@testable import WorkerProtocol

@Suite("Frames")
struct FrameTests {
    struct Received: Equatable {
        var header: FrameHeader
        var head: [UInt8]
        var body: [UInt8]
    }

    static func sample(_ count: Int, seed: UInt64) -> [Received] {
        var random = SeededRandom(seed: seed)
        return (0..<count).map { _ in
            let header = FrameHeader(
                FrameKind.allCases.randomElement(using: &random) ?? .resume,
                invocation: InvocationID(slot: Int.random(in: 0..<1000, using: &random), generation: UInt64.random(in: 1..<99, using: &random)),
                value: .random(in: .min ... .max, using: &random), function: .random(in: .min ... .max, using: &random),
                detail: .random(in: .min ... .max, using: &random))
            let head = (0..<Int.random(in: 0..<50, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let body = (0..<Int.random(in: 0..<3000, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            return Received(header: header, head: head, body: body)
        }
    }

    @Test("arrive whole and in order, however the stream is cut", arguments: [1, 2, 31, 32, 33, 700, 100_000])
    func survivesCuts(_ step: Int) throws {
        let frames = Self.sample(40, seed: UInt64(step))
        var stream = ByteBuffer()
        for frame in frames { stream.append(frame: frame.header, head: frame.head.span, body: frame.body.span) }
        let bytes = stream.array()
        var reader = FrameReader()
        var received: [Received] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            try reader.read(bytes.span.extracting(start..<min(start + step, bytes.count))) {
                received.append(Received(header: $0, head: $1.array(), body: $2.array()))
            }
        }
        #expect(received == frames)
        #expect(reader.pendingBytes == 0)
    }

    @Test("a frame can be built in place")
    func buildsInPlace() throws {
        var buffer = ByteBuffer()
        buffer.append("before")
        buffer.consume(6)
        let start = buffer.beginFrame(FrameHeader(.invoke, value: 7))
        buffer.append("name")
        let headSize = buffer.payloadSize(ofFrameAt: start)
        buffer.append("payload")
        buffer.finishFrame(start, headSize: headSize)
        var reader = FrameReader()
        var texts: [String] = []
        try reader.read(buffer.bytes) { texts += ["\($0.value)", $1.string(), $2.string()] }
        #expect(texts == ["7", "name", "payload"])
    }

    @Test("what is no frame is refused with a reason")
    func refusesNonsense() {
        var unknown = [UInt8](repeating: 0, count: 32)
        unknown[4] = 200
        #expect(throws: FrameError.unknownKind(200)) { try Self.read(unknown) }
        var large = [UInt8](repeating: 0xFF, count: 32)
        large[4] = 2
        #expect(throws: FrameError.tooLarge(0xFFFF_FFFF)) { try Self.read(large) }
        var head = [UInt8](repeating: 0, count: 32)
        head[4] = 2
        head[28] = 9
        #expect(throws: FrameError.headOutOfBounds(head: 9, payload: 0)) { try Self.read(head) }
    }

    static func read(_ bytes: [UInt8]) throws(FrameError) {
        var reader = FrameReader()
        try reader.read(bytes.span) { _, _, _ in }
    }
}

@Suite("Log records")
struct LogRecordTests {
    @Test("arrive whole, however the stream is cut", arguments: [1, 23, 24, 25, 4096])
    func survivesCuts(_ step: Int) {
        var stream = ByteBuffer()
        let header = LogRecordHeader(invocation: InvocationID(rawValue: 77), source: .logger, level: 4, function: 3)
        stream.append(record: header, message: Array("hello".utf8).span, fields: Array("{\"a\":1}".utf8).span)
        stream.append(record: header, message: [UInt8]().span, fields: [UInt8]().span)
        let bytes = stream.array()
        var reader = LogRecordReader()
        var seen: [String] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            let isRecord = reader.read(bytes.span.extracting(start..<min(start + step, bytes.count))) {
                #expect($0 == header)
                seen.append("\($1.string())|\($2.string())")
            }
            #expect(isRecord)
        }
        #expect(seen == ["hello|{\"a\":1}", "|"])
    }

    @Test("bytes that are no record are told from those that are")
    func refusesNonsense() {
        var reader = LogRecordReader()
        #expect(!reader.read([UInt8](repeating: 0xFF, count: 24).span) { _, _, _ in })
    }
}
