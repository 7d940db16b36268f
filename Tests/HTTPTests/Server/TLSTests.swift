import EventLoop
import Foundation
import HTTP
import Testing

/// Certificates made by the `openssl` program, in a directory that goes with this object.
final class Certificates {
    let directory: String

    init() throws {
        directory = NSTemporaryDirectory() + "hearth-tls-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        for name in ["first", "second"] {
            _ = try run(
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=\(name)", "-keyout", path("\(name).key"), "-out", path("\(name).pem"))
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: path(name), atomically: true, encoding: .utf8)
        return path(name)
    }

    var first: (certificate: String, key: String) { (path("first.pem"), path("first.key")) }
}

/// Runs a program, with nothing to read, and gives back what it printed.
func run(_ arguments: String...) throws -> (status: Int32, text: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
}

@Suite struct TLSTests {
    private let certificates = try? Certificates()

    private func withServer(_ body: (Certificates, TestServer) throws -> Void) throws {
        let certificates = try #require(certificates)
        try body(certificates, TestServer(certificate: certificates.first))
    }

    @Test(arguments: [("--tlsv1.2", "1.2"), ("--tlsv1.3", "1.3")]) func versions(_ option: String, _ highest: String) throws {
        try withServer { _, server in
            let answer = try run("curl", "-ksSv", "-m", "10", option, "--tls-max", highest, "https://127.0.0.1:\(server.port)/hello")
            #expect(answer.status == 0, "\(answer.text)")
            #expect(answer.text.contains("TLSv\(highest) /"))
            #expect(answer.text.contains("hello"))
        }
    }

    @Test func oldVersionsAreRefused() throws {
        try withServer { _, server in
            let answer = try run(
                "openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0")
            #expect(answer.text.contains("alert protocol version") || answer.text.contains("no protocols"), "\(answer.text)")
        }
    }

    @Test func weakCiphersAreRefused() throws {
        try withServer { _, server in
            let answer = try run("openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", "-tls1_2", "-cipher", "AES256-SHA")
            #expect(answer.text.contains("alert handshake failure"), "\(answer.text)")
        }
    }

    @Test(arguments: [
        ("http/1.1", "ALPN protocol: http/1.1"), ("h2,http/1.1", "ALPN protocol: h2"), ("http/1.1,h2", "ALPN protocol: h2"),
        ("h2", "ALPN protocol: h2"), ("h3", "no application protocol"),
    ])
    func protocolIsNegotiated(_ offer: String, _ outcome: String) throws {
        try withServer { _, server in
            let answer = try run("openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", "-alpn", offer)
            #expect(answer.text.contains(outcome), "\(answer.text)")
        }
    }

    @Test func largeBodiesBothWays() throws {
        try withServer { certificates, server in
            let body = (0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            try Data(body).write(to: URL(fileURLWithPath: certificates.path("body")))
            let answer = try run(
                "curl", "-ksS", "-m", "20", "--data-binary", "@\(certificates.path("body"))", "-o", certificates.path("answer"),
                "https://127.0.0.1:\(server.port)/echo")
            #expect(answer.status == 0, "\(answer.text)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: certificates.path("answer"))) == Data(body))
            let big = try run(
                "curl", "-ksS", "-m", "20", "-o", "/dev/null", "-w", "%{size_download} %{num_connects}",
                "https://127.0.0.1:\(server.port)/big", "https://127.0.0.1:\(server.port)/pieces", "-o", "/dev/null")
            #expect(big.text == "8388608 111 0", "\(big.text)")
        }
    }

    @Test func plainTextOnATLSPort() throws {
        try withServer { _, server in
            let client = server.connect()
            client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(!client.readAllText().contains("hello"))
            #expect(server.drains())
        }
    }

    @Test func refusalsReachTheClient() throws {
        try withServer { _, server in
            let answer = try run(
                "curl", "-ksS", "-m", "10", "-o", "/dev/null", "-w", "%{http_code}", "-d", "hello, world",
                "https://127.0.0.1:\(server.port)/tiny")
            #expect(answer.text == "413")
        }
    }

    // MARK: Files

    @Test func wrongFilesAreNamed() throws {
        let certificates = try #require(certificates)
        let text = try certificates.write("no PEM at all\n", to: "text")
        let encrypted = certificates.path("encrypted.key")
        _ = try run("openssl", "ec", "-aes256", "-passout", "pass:x", "-in", certificates.path("first.key"), "-out", encrypted)
        let cases: [(certificate: String, key: String, kind: TLSError.Kind, file: String)] = [
            (certificates.path("none.pem"), certificates.path("first.key"), .unreadable, "none.pem"),
            (certificates.path("first.pem"), certificates.path("none.key"), .unreadable, "none.key"),
            (certificates.directory, certificates.path("first.key"), .unreadable, certificates.directory),
            (text, certificates.path("first.key"), .notPEM, "text"),
            (certificates.path("first.pem"), text, .notPEM, "text"),
            (certificates.path("first.pem"), certificates.path("second.key"), .keyMismatch, "second.key"),
            (certificates.path("first.pem"), encrypted, .keyEncrypted, "encrypted.key"),
        ]
        for wrong in cases {
            let error = #expect(throws: TLSError.self) {
                _ = try TLSContext(certificateFile: wrong.certificate, keyFile: wrong.key)
            }
            #expect(error?.kind == wrong.kind)
            #expect(error?.message.contains(wrong.file) == true, "\(error?.message ?? "")")
        }
    }

    @Test func reloadTakesTheNewOrKeepsTheOld() throws {
        let certificates = try #require(certificates)
        let files = FileManager.default
        let live = (certificate: certificates.path("live.pem"), key: certificates.path("live.key"))
        try files.copyItem(atPath: certificates.path("first.pem"), toPath: live.certificate)
        try files.copyItem(atPath: certificates.path("first.key"), toPath: live.key)
        let server = try TestServer(certificate: live)
        #expect(try subject(server) == "first")
        try files.removeItem(atPath: live.key)
        try files.copyItem(atPath: certificates.path("second.key"), toPath: live.key)
        #expect(server.reloadTLS() == .keyMismatch)
        #expect(try subject(server) == "first")
        try files.removeItem(atPath: live.certificate)
        try files.copyItem(atPath: certificates.path("second.pem"), toPath: live.certificate)
        #expect(server.reloadTLS() == nil)
        #expect(try subject(server) == "second")
    }

    private func subject(_ server: TestServer) throws -> String {
        let text = try run("openssl", "s_client", "-connect", "127.0.0.1:\(server.port)").text
        return text.firstMatch(of: #/subject=CN = (\w+)/#).map { String($0.1) } ?? text
    }
}
