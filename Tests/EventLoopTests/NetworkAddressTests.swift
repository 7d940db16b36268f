import Testing

@testable import EventLoop

@Suite struct NetworkAddressTests {
    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.9.9.9", "169.254.169.254", "172.16.0.1", "172.31.255.1",
        "192.0.0.1", "192.0.2.7", "192.168.1.1", "198.18.0.1", "198.19.255.1", "198.51.100.3", "203.0.113.9", "224.0.0.1", "239.1.1.1", "240.0.0.1",
        "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1",
        "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::1", "3fff::1", "fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
        "4000::1",
    ])
    func special(_ text: String) throws {
        #expect(try !#require(NetworkAddress(text)).isPublic, "\(text)")
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.1.1.1", "128.0.0.1", "172.15.1.1", "172.32.0.1", "192.167.1.1",
        "198.17.1.1", "223.255.255.255", "::ffff:8.8.8.8", "64:ff9b::808:808", "2606:4700:4700::1111", "2a00:1450:4001::200e", "2001:4860:4860::8888",
    ])
    func ofTheInternet(_ text: String) throws {
        #expect(try #require(NetworkAddress(text)).isPublic, "\(text)")
    }

    @Test(arguments: ["", "1", "127.1", "0x7f.0.0.1", "1.2.3.4.5", "256.1.1.1", "::g", "[::1]", "1.2.3.4:80", "example.com"])
    func noAddress(_ text: String) {
        #expect(NetworkAddress(text) == nil, "\(text)")
    }

    @Test func endpoints() {
        #expect(NetworkAddress(endpoint: "192.0.2.1:80") == NetworkAddress("192.0.2.1"))
        #expect(NetworkAddress(endpoint: "192.0.2.1") == NetworkAddress("192.0.2.1"))
        #expect(NetworkAddress(endpoint: "[2001:db8::1]:80") == NetworkAddress("2001:db8::1"))
        #expect(NetworkAddress(endpoint: "2001:db8::1") == NetworkAddress("2001:db8::1"))
        #expect(NetworkAddress(endpoint: "[::ffff:10.0.0.1]:5") == NetworkAddress("10.0.0.1"))
        #expect(NetworkAddress(endpoint: "") == nil)
        #expect(NetworkAddress(endpoint: "[::1") == nil)
    }

    @Test func internalOnes() throws {
        for text in ["127.0.0.1", "10.0.0.1", "172.20.1.1", "192.168.0.9", "169.254.1.1", "::1", "fd00::1", "fe80::1", "::ffff:10.0.0.1"] {
            #expect(try #require(NetworkAddress(text)).isInternal, "\(text)")
        }
        for text in ["8.8.8.8", "100.64.0.1", "2001:db8::1", "0.0.0.0"] { #expect(try !#require(NetworkAddress(text)).isInternal, "\(text)") }
    }

    @Test func ranges() throws {
        func contains(_ range: String, _ address: String) throws -> Bool {
            try #require(NetworkRange(range)).contains(#require(NetworkAddress(address)))
        }
        #expect(try contains("10.0.0.0/8", "10.255.0.1"))
        #expect(try contains("10.0.0.0/8", "::ffff:10.255.0.1"))
        #expect(try !contains("10.0.0.0/8", "11.0.0.1"))
        #expect(try contains("192.0.2.1", "192.0.2.1"))
        #expect(try !contains("192.0.2.1", "192.0.2.2"))
        #expect(try contains("0.0.0.0/0", "8.8.8.8"))
        #expect(try !contains("0.0.0.0/0", "2001:db8::1"))
        #expect(try contains("::/0", "2001:db8::1"))
        #expect(try contains("fd00::/8", "fdff::1"))
        for bad in ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "fd00::/129", "/8", "a/8"] { #expect(NetworkRange(bad) == nil, "\(bad)") }
    }

    @Test func customers() throws {
        func customer(_ text: String) throws -> NetworkAddress { try #require(NetworkAddress(text)).customer }
        #expect(try customer("2001:db8::1") == customer("2001:db8::ffff:1"))
        #expect(try customer("2001:db8::1") != customer("2001:db8:0:1::1"))
        #expect(try customer("192.0.2.1") != customer("192.0.2.2"))
    }
}
