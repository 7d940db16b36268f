import Testing

@testable import HearthBytes

@Suite("ByteBuffer")
struct ByteBufferTests {
    @Test("what is appended is read in order, across growth and consumption")
    func keepsOrder() {
        var buffer = ByteBuffer()
        var expected: [UInt8] = []
        for round in 0..<200 {
            let bytes = (0..<round).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ round) }
            buffer.append(bytes)
            expected += bytes
            let taken = min(round / 2, expected.count)
            expect(buffer.bytes.extracting(0..<taken).array() == Array(expected.prefix(taken)))
            buffer.consume(taken)
            expected.removeFirst(taken)
        }
        expect(buffer.array() == expected)
    }

    @Test("decimal numbers", arguments: [0, 1, 9, 10, 99, 100, 12345, -1, -90, Int.max, Int.min])
    func writesDecimals(_ number: Int) {
        var buffer = ByteBuffer()
        buffer.append("x")
        buffer.append(decimal: number)
        expect(buffer.string() == "x\(number)")
    }

    @Test("numbers are little-endian and can be overwritten in place")
    func overwrites() {
        var buffer = ByteBuffer()
        buffer.append(littleEndian: UInt32(0x0403_0201))
        buffer.append(littleEndian: UInt16(0x0605))
        expect(buffer.array() == [1, 2, 3, 4, 5, 6])
        buffer.consume(1)
        buffer.overwrite(littleEndian: UInt16(0xFFEE), at: 1)
        expect(buffer.array() == [2, 0xEE, 0xFF, 5, 6])
    }

    @Test("truncating and clearing forget bytes; large memory is given back")
    func clears() {
        var buffer = ByteBuffer()
        buffer.append([UInt8](repeating: 1, count: 10_000))
        buffer.truncate(to: 3)
        expect(buffer.array() == [1, 1, 1])
        buffer.clear(keepingAtMost: 512)
        expect(buffer.isEmpty)
        expect(buffer.capacity == 0)
        buffer.append("again")
        expect(buffer.string() == "again")
    }

    @Test("uninitialised room is at least as large as asked for")
    func lendsRoom() {
        var buffer = ByteBuffer()
        buffer.append("a")
        buffer.appendUninitialized(minimum: 1000) { room in
            #expect(room.count >= 1000)
            for index in 0..<1000 { room[index] = 0x62 }
            return 2
        }
        expect(buffer.string() == "abb")
    }
}

@Suite("Span of text")
struct SpanTextTests {
    @Test("compares with ASCII text, with and without case")
    func compares() {
        let text = Array("Content-Type".utf8)
        expect(text.span.equals("Content-Type"))
        expect(!text.span.equals("content-type"))
        expect(text.span.equalsIgnoringCase(lowercase: "content-type"))
        expect(!text.span.equalsIgnoringCase(lowercase: "content-typ"))
        expect(!Array("content_type".utf8).span.equalsIgnoringCase(lowercase: "content-type"))
    }

    @Test("compares with a secret, and nothing equals an empty one")
    func comparesSecrets() {
        let text = Array("token".utf8)
        expect(text.span.equalsInConstantTime(Array("token".utf8)))
        for other in ["tokem", "Token", "toke", "tokens", ""] { expect(!text.span.equalsInConstantTime(Array(other.utf8))) }
        expect(![UInt8]().span.equalsInConstantTime([]))
    }
}

/// `#expect` takes an expression apart, which values that cannot be copied do not allow.
private func expect(_ holds: Bool, _ comment: Comment? = nil, at location: SourceLocation = #_sourceLocation) {
    #expect(holds, comment, sourceLocation: location)
}
