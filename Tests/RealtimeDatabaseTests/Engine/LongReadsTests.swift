import Testing

@testable import RealtimeDatabase

@Suite("Who reads long answers")
struct LongReadsTests {
    @Test("an address is a client, whatever its port; a network of IPv6 is one", arguments: [
        ("127.0.0.1:50000", "127.0.0.1"), ("203.0.113.7", "203.0.113.7"), ("[::ffff:203.0.113.7]:80", "203.0.113.7"),
        ("[2001:db8:1:2::1]:80", "32.1.13.184.0.1.0.2/64"), ("2001:db8:1:2:ffff::9", "32.1.13.184.0.1.0.2/64"),
        ("[2001:db8:1:3::1]:80", "32.1.13.184.0.1.0.3/64"),
        ("", ""), ("[nonsense", "nonsense"), ("a:b:c", "a:b:c"),
    ])
    func groups(address: String, client: String) { #expect(ClientAddress.group(address) == client) }

    @Test("a client has so many seats, and gets one back when it leaves")
    func counts() {
        let reads = LongReads(perClientMax: 2)
        var first = reads.enter("a")
        let second = reads.enter("a")
        #expect(first != nil && second != nil && reads.enter("a") == nil)
        #expect(reads.enter("b") != nil)
        first = nil
        #expect(first == nil && reads.enter("a") != nil)
    }
}
