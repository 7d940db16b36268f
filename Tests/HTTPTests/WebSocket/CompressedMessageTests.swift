import EventLoop
import HearthBytes
import Testing

@testable import HTTP

/// Compressed messages (RFC 7692 sections 6 and 7.2).
@Suite struct CompressedMessageTests {
    private let compression: SharedCompression

    init() throws { compression = SharedCompression(loop: try EventLoop()) }

    private func read(_ bytes: [UInt8], limits: WebSocketLimits = WebSocketLimits()) -> [String] {
        let whole = ClientFrames.meaning(of: [bytes], limits: limits, compression: compression)
        #expect(ClientFrames.meaning(of: bytes.map { [$0] }, limits: limits, compression: compression) == whole)
        return whole
    }

    private func first(_ opcode: UInt8, _ payload: some Sequence<UInt8>, isFinal: Bool = true) -> [UInt8] {
        ClientFrames.frame(opcode, Array(payload), isFinal: isFinal, isCompressed: true)
    }

    private func next(_ payload: some Sequence<UInt8>, isFinal: Bool = true) -> [UInt8] { ClientFrames.frame(0, Array(payload), isFinal: isFinal) }

    @Test("the examples of section 7.2.3")
    func examples() {
        let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        #expect(read(first(1, hello)) == ["text Hello"])
        #expect(read(first(1, hello[..<3], isFinal: false) + next(hello[3...])) == ["text Hello"])
        #expect(read(first(1, hello) + first(2, hello)) == ["text Hello", "binary Hello"])
        let stored: [UInt8] = [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00]
        #expect(read(first(1, stored)) == ["text Hello"])
        let final: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]
        #expect(read(first(1, final)) == ["text Hello"])
        let twoBlocks: [UInt8] = [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00]
        #expect(read(first(1, twoBlocks)) == ["text Hello"])
        #expect(read(first(1, [0x00])) == ["text "])
    }

    @Test("the second message of section 7.2.3.2 needs the first one, which must be forgotten")
    func noContext() {
        let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        #expect(read(first(1, hello) + first(1, [0xF2, 0x00, 0x11, 0x00, 0x00])) == ["text Hello", "fault 1007"])
    }

    @Test func emptyMessages() {
        #expect(read(first(1, [])) == ["text "])
        #expect(read(first(2, [], isFinal: false) + next([])) == ["binary "])
        #expect(read(first(1, [], isFinal: false) + next([0x00])) == ["text "])
    }

    @Test func controlFramesBetweenFragments() {
        let text = ClientFrames.deflated(Array(String(repeating: "π is 3.14, ", count: 400).utf8))
        var bytes = first(1, text.prefix(1), isFinal: false)
        for byte in text.dropFirst() { bytes += ClientFrames.frame(9, [65]) + next([byte], isFinal: false) }
        let events = read(bytes + next([]))
        #expect(events.filter { $0 == "ping A" }.count == text.count - 1)
        #expect(events.last == "text " + String(repeating: "π is 3.14, ", count: 400))
    }

    @Test func uncompressedMessagesBetweenCompressedOnes() {
        let text = ClientFrames.deflated(Array("compressed".utf8), windowBits: 9)
        let plain = ClientFrames.frame(1, Array("plain".utf8))
        #expect(read(first(1, text) + plain + first(1, text)) == ["text compressed", "text plain", "text compressed"])
    }

    @Test("the bit of a compressed message stands on its first frame only, and only where it is agreed")
    func reservedBits() {
        let text = ClientFrames.deflated(Array("hello".utf8))
        #expect(ClientFrames.meaning(of: [first(1, text)]) == ["fault 1002"])
        #expect(read(first(1, text.prefix(2), isFinal: false) + first(0, text.dropFirst(2))) == ["fault 1002"])
        for opcode: UInt8 in [8, 9, 10, 3, 11] { #expect(read(first(opcode, [])) == ["fault 1002"], "\(opcode)") }
        for bits: UInt8 in [0xA1, 0x91, 0xE1, 0xD1, 0xF1] { #expect(read([bits, 0x80, 0, 0, 0, 0]) == ["fault 1002"], "\(bits)") }
        #expect(read(ClientFrames.frame(1, [65], isFinal: false) + first(0, [66])) == ["fault 1002"])
    }

    @Test func whatIsNotCompressedAsAgreed() {
        let text = ClientFrames.deflated(Array("hello, hello, hello, hello".utf8))
        // A reserved type of block, a message that is cut off, and one whose end was not left out.
        for payload in [[0x07, 0xFF], Array(text.dropLast(3)), text + [0x00, 0x00, 0xFF, 0xFF]] {
            #expect(read(first(2, payload)) == ["fault 1007"], "\(payload)")
        }
        #expect(read(first(1, ClientFrames.deflated([0x41, 0xFF]))) == ["fault 1007"])
        #expect(read(first(1, ClientFrames.deflated([0xC3]))) == ["fault 1007"])
        #expect(read(first(2, ClientFrames.deflated([0xC3]))).count == 1)
    }

    @Test("the limit holds for the decompressed size, and ends a bomb where it is reached")
    func limits() {
        var limits = WebSocketLimits()
        limits.messageBytesMax = 100_000
        let (fits, exceeds) = (Array(repeating: UInt8(65), count: 100_000), Array(repeating: UInt8(65), count: 100_001))
        #expect(read(first(1, ClientFrames.deflated(fits)), limits: limits).first?.utf8.count == 100_005)
        #expect(read(first(1, ClientFrames.deflated(exceeds)), limits: limits) == ["fault 1009"])
        let half = ClientFrames.deflated(exceeds)
        #expect(read(first(1, half.prefix(40), isFinal: false) + next(half.dropFirst(40), isFinal: false), limits: limits) == ["fault 1009"])
        let bomb = ClientFrames.deflated(Array(repeating: 0, count: 64 * 1024 * 1024))
        var reader = WebSocketReader(limits: limits, compression: compression)
        #expect(throws: WebSocketFault.tooLong) {
            try first(2, bomb).withUnsafeBufferPointer { bytes throws(WebSocketFault) in try reader.read(bytes) { _, _ in true } }
        }
        #expect(reader.unfinishedBytes <= 100_000 + Inflater.stateBytes)
        // Blocks without data, which never end.
        let nothing = Array(repeating: [0x00, 0x00, 0x00, 0xFF, 0xFF] as [UInt8], count: 41_000).flatMap { $0 }
        #expect(ClientFrames.meaning(of: [first(2, nothing)], limits: limits, compression: compression) == ["fault 1009"])
    }

    @Test func onlyMessagesUnderWayHaveAnInflater() throws {
        var reader = WebSocketReader(limits: WebSocketLimits(), compression: compression)
        let text = ClientFrames.deflated(Array("hello".utf8))
        func give(_ bytes: [UInt8]) throws(WebSocketFault) {
            try bytes.withUnsafeBufferPointer { bytes throws(WebSocketFault) in try reader.read(bytes) { _, _ in true } }
        }
        try give(first(1, text.prefix(2), isFinal: false))
        #expect(reader.unfinishedBytes >= Inflater.stateBytes)
        // Another connection's message meanwhile.
        #expect(read(first(1, text)) == ["text hello"])
        try give(next(text.dropFirst(2)))
        #expect(reader.unfinishedBytes == 0)
    }
}

/// Messages of the server.
@Suite struct SharedCompressionTests {
    private let loop: EventLoop
    private let compression: SharedCompression
    private let text = Array(String(repeating: "{\"name\":\"value\"},", count: 100).utf8)

    init() throws {
        loop = try EventLoop()
        compression = SharedCompression(loop: loop)
    }

    private func compress(_ message: [UInt8], windowBits: Int = 15) -> [UInt8]? {
        var result: [UInt8]?
        #expect(compression.compress(message.span, windowBits: windowBits) { result = $0.array() } == (result != nil))
        return result
    }

    private func inflated(_ message: [UInt8]) -> [String] {
        ClientFrames.meaning(of: [ClientFrames.frame(1, message, isCompressed: true)], compression: compression)
    }

    @Test(arguments: Deflater.windowBits)
    func windows(bits: Int) throws {
        let message = try #require(compress(text, windowBits: bits))
        #expect(message.count < text.count / 4)
        #expect(inflated(message) == ["text \(String(decoding: text, as: UTF8.self))"])
        // Each message stands on its own.
        #expect(compress(text + [65], windowBits: bits).map(inflated) == ["text \(String(decoding: text, as: UTF8.self))A"])
    }

    @Test func aMessageToManyClientsIsCompressedOnce() throws {
        let message = try #require(compress(text))
        for _ in 0..<100 { #expect(compress(text) == message) }
        #expect(compression.compressions == 1)
        let other = Array(text.reversed())
        #expect(compress(other) != message)
        #expect(compress(text, windowBits: 9) != nil)
        #expect(compression.compressions == 3)
    }

    @Test func messagesThatDoNotShrinkAreSentAsTheyAre() {
        var state: UInt64 = 1
        let noise = (0..<2000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        #expect(compress(noise) == nil)
        #expect(compress(noise) == nil)
    }

    @Test func aTurnOfTheLoopCompressesSoMuch() throws {
        #expect(compress(Array(repeating: 65, count: SharedCompression.turnBytesMax + 1)) == nil)
        let quarter = SharedCompression.turnBytesMax / 4
        for byte: UInt8 in 0..<4 { #expect(compress(Array(repeating: byte, count: quarter)) != nil) }
        #expect(compress([1, 1, 1, 1, 1, 1, 1, 1]) == nil)
        loop.runOnce()
        #expect(compress(Array(repeating: 1, count: 100)) != nil)
    }
}
