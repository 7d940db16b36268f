import EventLoop
import Testing

@testable import HTTP

/// The certificates that the client trusts.
@Suite struct HTTPClientTLSTests {
    /// Sends a request for the name `host` to a server with a self-signed certificate, trusting `authority`.
    private func ask(_ host: String, trusting authority: (SelfSigned) -> String?) async throws -> Result<ClientResponse, ClientError> {
        let files = try SelfSigned()
        let server = try await CannedServer(tls: (files.certificateFile, files.keyFile)) { _ in
            Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)
        }
        let thread = try LoopThread()
        let client = HTTPClient(loop: thread.loop, certificateAuthorityFile: authority(files))
        defer {
            client.close()
            thread.join()
            server.stop()
        }
        do throws(ClientError) {
            return .success(try await client.send(ClientRequest(url: "https://\(host):\(server.port)/")))
        } catch {
            return .failure(error)
        }
    }

    @Test func talksToAServerThatItTrusts() async throws {
        #expect(try await ask("localhost", trusting: { $0.certificateFile }).get().body == Array("ok".utf8))
    }

    @Test func refusesAStrangersCertificate() async throws {
        let result = try await ask("localhost", trusting: { _ in nil })
        #expect(throws: ClientError.self) { try result.get() }
        if case .failure(let error) = result { #expect(error.kind == .tls) }
    }

    @Test func refusesACertificateForAnotherName() async throws {
        let result = try await ask("127.0.0.1", trusting: { $0.certificateFile })
        if case .failure(let error) = result { #expect(error.kind == .tls) } else { Issue.record("the name was not looked at") }
    }

    @Test func refusesWithoutAnAuthorityFile() async throws {
        let result = try await ask("localhost", trusting: { _ in "/nowhere.pem" })
        if case .failure(let error) = result { #expect(error.kind == .tls) } else { Issue.record("the file was not looked at") }
    }
}
