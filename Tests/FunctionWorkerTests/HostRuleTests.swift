import EventLoop
import Testing

@testable import FunctionWorker

/// The hosts that functions may send requests to.
@Suite struct HostRuleTests {
    private func admits(_ entries: [String]?, _ address: String, _ host: String = "api.example.com", port: Int = 443) throws -> Bool {
        try HostRules([entries, nil]).admits(#require(NetworkAddress(address)), host, port: port)
    }

    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1", "168.63.129.16",
        "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "224.0.0.1", "239.255.255.250",
        "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::10.0.0.1", "64:ff9b::a9fe:a9fe",
        "64:ff9b::7f00:1", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:7f00:1::", "fc00::1", "fd00:ec2::254", "fe80::1",
        "ff02::1",
    ])
    func everythingElseIsDeniedByDefault(_ address: String) throws {
        #expect(try !admits(nil, address), "\(address)")
        #expect(try !admits(["*"], address), "\(address)")
        #expect(try !admits(["api.example.com", "*.example.com"], address), "\(address)")
        #expect(!HostRules([nil, nil]).mayAdmit(address, port: 80), "\(address)")
    }

    @Test(arguments: ["1.1.1.1", "168.63.129.17", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::101:101"])
    func thePublicIsAllowedByDefault(_ address: String) throws {
        #expect(try admits(nil, address), "\(address)")
        #expect(HostRules([nil, nil]).mayAdmit(address, port: 80), "\(address)")
    }

    @Test func names() throws {
        #expect(try admits(["api.example.com"], "1.1.1.1"))
        #expect(try admits(["API.example.COM"], "1.1.1.1"))
        #expect(try !admits(["api.example.com"], "1.1.1.1", "example.com"))
        #expect(try !admits(["example.com"], "1.1.1.1", "notexample.com"))
        #expect(try admits(["*.example.com"], "1.1.1.1"))
        #expect(try admits(["*.example.com"], "1.1.1.1", "a.b.example.com"))
        #expect(try !admits(["*.example.com"], "1.1.1.1", "example.com"))
        #expect(try !admits(["*.example.com"], "1.1.1.1", "badexample.com"))
        #expect(try !admits(["*.example.com"], "1.1.1.1", ".example.com"))
        #expect(try !admits([], "1.1.1.1"))
    }

    @Test func ports() throws {
        #expect(try admits(["api.example.com:443"], "1.1.1.1"))
        #expect(try !admits(["api.example.com:443"], "1.1.1.1", port: 8443))
        #expect(try admits(["10.0.0.5:80"], "10.0.0.5", "x", port: 80))
        #expect(try !admits(["10.0.0.5:80"], "10.0.0.5", "x", port: 81))
        #expect(try admits(["[fd00::5]:80"], "fd00::5", "x", port: 80))
        #expect(try !admits(["[fd00::5]:80"], "fd00::6", "x", port: 80))
        #expect(try admits(["[fd00::5]"], "fd00::5", "x", port: 1))
        #expect(try admits(["*:443"], "1.1.1.1"))
        #expect(try !admits(["*:443"], "1.1.1.1", port: 80))
    }

    @Test func networks() throws {
        #expect(try admits(["10.0.0.0/8"], "10.9.9.9", "any.name"))
        #expect(try admits(["10.0.0.0/8"], "::ffff:10.9.9.9", "any.name"))
        #expect(try !admits(["10.0.0.0/8"], "11.9.9.9", "any.name"))
        #expect(try !admits(["10.0.0.0/8"], "1.1.1.1", "any.name"))
        #expect(try admits(["fd00::/8"], "fd12::1", "any.name"))
        #expect(HostRules([["10.0.0.0/8"], nil]).mayAdmit("any.name", port: 80))
        #expect(!HostRules([["10.0.0.0/8"], nil]).mayAdmit("192.168.0.1", port: 80))
    }

    @Test func privateNames() throws {
        for address in ["10.0.0.1", "192.168.0.1", "127.0.0.1", "::1", "fd12::1", "100.64.0.1", "1.1.1.1"] {
            #expect(try admits(["private:billing.internal:8080"], address, "billing.internal", port: 8080), "\(address)")
            #expect(try !admits(["private:billing.internal:8080"], address, "billing.internal", port: 80), "\(address)")
            #expect(try !admits(["private:billing.internal"], address, "other.internal"), "\(address)")
        }
        for address in [
            "169.254.169.254", "fe80::1", "0.0.0.0", "168.63.129.16", "255.255.255.255", "224.0.0.1", "fd00:ec2::254", "100.100.100.200",
        ] {
            #expect(try !admits(["private:billing.internal"], address, "billing.internal"), "\(address)")
        }
        #expect(try admits(["localhost:8080"], "127.0.0.1", "localhost", port: 8080))
        #expect(try !admits(["localhost:8080"], "127.0.0.1", "127.0.0.1", port: 8080))
    }

    @Test func bothListsMustAdmit() throws {
        let rules = HostRules([["10.0.0.0/8", "a.example.com"], ["*", "10.1.0.0/16"]])
        #expect(try rules.admits(#require(NetworkAddress("10.1.0.1")), "x", port: 80))
        #expect(try !rules.admits(#require(NetworkAddress("10.2.0.1")), "x", port: 80))
        #expect(try rules.admits(#require(NetworkAddress("1.1.1.1")), "a.example.com", port: 80))
        #expect(try !rules.admits(#require(NetworkAddress("1.1.1.1")), "b.example.com", port: 80))
    }

    @Test(arguments: [
        "", "*.", "a..b", "a b", "http://a", "a/b", "a:0", "a:65536", "a:x", "10.0.0.0/33", "private:", "private:*", "[::1", "a:80:90", "ä.de",
    ])
    func malformedEntries(_ text: String) {
        #expect(HostRule(text) == nil, "\(text)")
    }

    @Test func aPolicyArrivesAsItWasSent() throws {
        var policy = OutgoingPolicy()
        policy.allowedHosts = ["a\"b", "*"]
        policy.allowedForAll = []
        policy.responseBytesMax = 7
        policy.callsMax = 9
        policy.certificateAuthority = "/etc/ca.pem"
        #expect(OutgoingPolicy(text: policy.text) == policy)
        #expect(OutgoingPolicy(text: OutgoingPolicy().text) == OutgoingPolicy())
        #expect(OutgoingPolicy(text: "{}") == nil)
    }
}
