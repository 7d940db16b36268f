import EventLoop
import FuzzSupport
import Testing

/// Addresses are read from header fields that anybody writes.
@Suite struct NetworkAddressFuzzTests {
    private static let corpus = [
        "192.0.2.1", "192.0.2.1:80", "[2001:db8::1]:443",
        "2001:db8::1", "::ffff:10.0.0.1", "fe80::1%eth0", "10.0.0.0/8", "fd00::/8", "::/0", "unknown",
    ].map { Array($0.utf8) }

    @Test func whatIsReadIsWhatIsWritten() {
        let run = FuzzRun(Self.corpus, words: ["::", "ffff:", ".", "]", "[", "/", "255", "%", ":80"], bytesMax: 64, rounds: 20_000)
        let complaint = run.complaint { text, _ in
            let text = String(decoding: text, as: UTF8.self)
            if let range = NetworkRange(text), let address = NetworkAddress(text.prefix { $0 != "/" }), !range.contains(address) {
                return "a range without its own address"
            }
            guard let address = NetworkAddress(endpoint: text) else { return nil }
            guard NetworkAddress(address.description) == address else { return "\(address) is another one" }
            return address.isPublic && address.isInternal ? "\(address) is both public and internal" : nil
        }
        #expect(complaint == nil)
    }
}
