import HTTP
import Testing

/// The hosts and peers that count as this machine.
@Suite struct LoopbackNameTests {
    @Test(arguments: ["localhost", "LocalHost", "ns.localhost", "a.b.localhost", "127.0.0.1", "127.255.255.254", "::1", "[::1]",
        "[::ffff:127.0.0.1]"])
    func thisMachine(_ host: String) {
        #expect(LoopbackName.matches(host))
    }

    @Test(arguments: [
        "", ".localhost", "localhost.example", "notlocalhost", "127.0.0.1.example", "127.1", "0.0.0.0", "10.0.0.1", "[::]", "[::2]", "::1]",
        "[::1", "127.0.0.1\0.example", "[127.0.0.1]", "[::ffff:10.0.0.1]", "2130706433", "0x7f.0.0.1", "127.0.0.1:80", "example",
    ])
    func others(_ host: String) {
        #expect(!LoopbackName.matches(host))
    }

    @Test func peersHavePorts() {
        #expect(LoopbackName.matches(peer: "127.0.0.1:4000") && LoopbackName.matches(peer: "[::1]:4000"))
        #expect(LoopbackName.matches(peer: "[::ffff:127.0.0.2]:1"))
        for peer in ["", "10.0.0.1:80", "[fd00::2]:80", "localhost:80", ":80"] { #expect(!LoopbackName.matches(peer: peer)) }
    }
}
