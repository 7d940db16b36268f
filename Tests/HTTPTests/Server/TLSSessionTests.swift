import HearthBytes
import FuzzSupport
import Testing

@testable import EventLoop

/// Two sessions that talk without a socket between them.
final class TLSPair {
    let client: TLSSession
    let server: TLSSession
    /// The bytes received by each side.
    var atClient = ByteBuffer()
    var atServer = ByteBuffer()

    init(_ context: TLSContext) throws {
        client = try TLSSession(context: context, server: false)
        server = try TLSSession(context: context)
        // An empty read makes the client say hello.
        try client.receive([UInt8]().span, plaintext: &atClient)
    }

    /// Carries bytes to and fro until both are silent, in pieces of at most `pieceMax`, changed on their way by `spoil`.
    func talk(pieceMax: Int = .max, spoil: ([UInt8]) -> [UInt8] = { $0 }) throws {
        while client.hasHandshakeOutput || server.hasHandshakeOutput {
            try carry(from: client, to: server, &atServer, pieceMax, spoil)
            try carry(from: server, to: client, &atClient, pieceMax, spoil)
        }
    }

    private func carry(
        from sender: TLSSession, to receiver: TLSSession, _ heard: inout ByteBuffer, _ pieceMax: Int, _ spoil: ([UInt8]) -> [UInt8]
    ) throws {
        var wire = ByteBuffer()
        sender.takeHandshakeOutput(into: &wire)
        var rest = spoil(wire.array())[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieceMax))
            rest = rest.dropFirst(piece.count)
            try receiver.receive(piece.span, plaintext: &heard)
        }
    }

    /// The ciphertext of `text`, as the stream would send it.
    func sealed(_ text: [UInt8], by sender: TLSSession) throws -> [UInt8] {
        var wire = ByteBuffer()
        try sender.send(text.span, ciphertext: &wire)
        return wire.array()
    }
}

@Suite struct TLSSessionTests {
    private func pair() throws -> TLSPair {
        let certificates = try Certificates()
        return try TLSPair(TLSContext(certificateFile: certificates.first.certificate, keyFile: certificates.first.key))
    }

    @Test(arguments: [1, 2, 5, 100, 100_000]) func handshakeInPieces(_ pieceMax: Int) throws {
        let pair = try pair()
        #expect(!pair.server.isHandshaken)
        try pair.talk(pieceMax: pieceMax)
        #expect(pair.server.isHandshaken && pair.client.isHandshaken)
        let text = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        var rest = try pair.sealed(text, by: pair.client)[...]
        #expect(rest.count > text.count)
        while !rest.isEmpty {
            try pair.server.receive(Array(rest.prefix(pieceMax)).span, plaintext: &pair.atServer)
            rest = rest.dropFirst(pieceMax)
        }
        #expect(pair.atServer.array() == text)
    }

    @Test func whatIsSaidTooEarlyWaits() throws {
        let pair = try pair()
        #expect(try pair.sealed(Array("first ".utf8), by: pair.server).isEmpty)
        #expect(try pair.sealed(Array("second".utf8), by: pair.server).isEmpty)
        try pair.talk()
        #expect(pair.atClient.string() == "first second")
    }

    @Test func theEndIsToldApart() throws {
        let pair = try pair()
        try pair.talk()
        var wire = ByteBuffer()
        pair.client.close(ciphertext: &wire)
        #expect(wire.array() != [])
        try pair.server.receive(wire.bytes, plaintext: &pair.atServer)
        #expect(pair.server.isPeerClosed)
        #expect(pair.atServer.array() == [])
        wire.clear()
        pair.client.close(ciphertext: &wire)
        #expect(wire.array() == [])
    }

    @Test func spoiledRecordsAreRefused() throws {
        let pair = try pair()
        try pair.talk()
        var wire = try pair.sealed(Array("hello".utf8), by: pair.client)
        wire[wire.count - 1] ^= 1
        #expect(throws: TLSError.self) { try pair.server.receive(wire.span, plaintext: &pair.atServer) }
        #expect(pair.atServer.array() == [])
        #expect(pair.server.hasHandshakeOutput, "the alert is missing")
    }

    /// Changed handshakes end in an error or in silence, and never in a connection that both believe in.
    @Test func spoiledHandshakes() throws {
        let certificates = try Certificates()
        let context = try TLSContext(certificateFile: certificates.first.certificate, keyFile: certificates.first.key)
        for seed in 1...500 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            let pair = try TLSPair(context)
            var isSpoiled = false
            do {
                try pair.talk { bytes in
                    var bytes = bytes
                    guard !isSpoiled, bytes.count > 5 else { return bytes }
                    isSpoiled = true
                    // A record's own header is not part of what both sides vouch for.
                    bytes[Int.random(in: 5..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                    return bytes
                }
                #expect(!(pair.client.isHandshaken && pair.server.isHandshaken), "seed \(seed)")
            } catch {
                #expect(error is TLSError, "seed \(seed)")
            }
        }
    }
}
