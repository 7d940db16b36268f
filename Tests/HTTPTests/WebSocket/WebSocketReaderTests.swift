import HearthBytes
import Testing

@testable import HTTP

/// RFC 6455, section by section.
@Suite struct WebSocketReaderTests {
    private func frame(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
        ClientFrames.frame(opcode, payload, isFinal: isFinal)
    }

    private func read(_ bytes: [UInt8], limits: WebSocketLimits = WebSocketLimits()) -> [String] {
        ClientFrames.meaning(of: [bytes], limits: limits)
    }

    @Test("the handshake's example (section 1.3)")
    func handshake() {
        let key = Array("dGhlIHNhbXBsZSBub25jZQ==".utf8)
        #expect(WebSocketHandshake.accept(key.span) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test("a masked text (section 5.7)")
    func masked() {
        #expect(read([0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]) == ["text Hello"])
    }

    @Test("fragments with a ping between them (section 5.4)")
    func fragments() {
        let bytes = frame(1, Array("Hel".utf8), isFinal: false) + frame(9, Array("p".utf8)) + frame(0, Array("lo".utf8))
        #expect(read(bytes) == ["ping p", "text Hello"])
    }

    @Test("a letter may be cut by a fragment's end, and must be whole in the message")
    func letters() {
        let letter = Array("é".utf8)
        #expect(read(frame(1, [letter[0]], isFinal: false) + frame(0, [letter[1]])) == ["text é"])
        #expect(read(frame(1, [letter[0]])) == ["fault 1007"])
        #expect(read(frame(2, [letter[0]])).count == 1)
    }

    @Test("a text that cannot become valid is refused before its end")
    func earlyRefusal() {
        #expect(read(frame(1, [0xCE, 0xBA], isFinal: false) + frame(0, [0xF4, 0x90], isFinal: false)) == ["fault 1007"])
        #expect(read(Array(frame(1, [65, 0xFF] + Array(repeating: 65, count: 50)).prefix(10))) == ["fault 1007"])
    }

    @Test("closes (section 5.5.1 and 7.4)")
    func closes() {
        #expect(read(frame(8, [])) == ["close(1005) "])
        #expect(read(frame(8, [3, 0xE8]) + frame(1, [65])).first?.hasPrefix("close(1000)") == true)
        #expect(read(frame(8, [3])) == ["fault 1002"])
        for code in [999, 1004, 1005, 1006, 1015, 2999, 5000] {
            #expect(read(frame(8, [UInt8(code >> 8), UInt8(code & 0xFF)])) == ["fault 1002"], "\(code)")
        }
        #expect(read(frame(8, [3, 0xE8, 0xFF])) == ["fault 1007"])
        #expect(read(frame(8, [3, 0xE8, 0xC3])) == ["fault 1007"])
    }

    @Test("limits")
    func limits() {
        var limits = WebSocketLimits()
        limits.messageBytesMax = 4
        limits.fragmentsMax = 2
        #expect(read(frame(1, Array("abcd".utf8)), limits: limits) == ["text abcd"])
        #expect(read(frame(1, Array("abcde".utf8)), limits: limits) == ["fault 1009"])
        #expect(read(frame(1, Array("abc".utf8), isFinal: false) + frame(0, Array("de".utf8)), limits: limits) == ["fault 1009"])
        let many = frame(1, [], isFinal: false) + frame(0, [], isFinal: false) + frame(0, [])
        #expect(read(many, limits: limits) == ["fault 1009"])
    }

    @Test("what breaks a rule (section 5.2)")
    func violations() {
        let unmasked: [UInt8] = [0x81, 0x01, 65]
        let reserved: [UInt8] = [0xC1, 0x80, 0, 0, 0, 0]
        let longWay: [UInt8] = [0x82, 0xFE, 0, 5, 0, 0, 0, 0, 1, 2, 3, 4, 5]
        let within = frame(1, [65], isFinal: false) + frame(1, [])
        for bytes in [unmasked, reserved, longWay, frame(3, []), frame(0, []), frame(9, [1], isFinal: false), within] {
            #expect(read(bytes).last == "fault 1002", "\(bytes)")
        }
    }
}
