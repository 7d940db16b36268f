import EventLoop
import Glibc
import Synchronization
import Testing

@testable import HTTP

/// The client against servers on this machine: what it sends, what it takes, and what it refuses.
@Suite struct HTTPClientTests {
    /// Runs `body` with a client, and a server that answers with `answer`.
    private func exchange(
        _ answer: @escaping @Sendable (String) -> [UInt8]?, _ body: (HTTPClient, CannedServer) async throws -> Void
    ) async throws {
        let server = try await CannedServer(answer)
        let thread = try LoopThread()
        let client = HTTPClient(loop: thread.loop)
        defer {
            client.close()
            thread.join()
            server.stop()
        }
        try await body(client, server)
    }

    private static func answer(_ body: String, status: String = "200 OK", headers: String = "") -> [UInt8] {
        Array("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)".utf8)
    }

    private func failure(_ client: HTTPClient, _ request: ClientRequest) async -> ClientError.Kind? {
        do throws(ClientError) {
            _ = try await client.send(request)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test func getsAnAnswerWithItsHeaders() async throws {
        try await exchange { _ in Self.answer("hello", headers: "Cache-Control: public, max-age=7\r\nX-Empty:\r\n") } _: { client, server in
            let response = try await client.send(
                ClientRequest(url: server.url + "/path?q=1", headers: [("X-One", "1"), ("X-None", "")]))
            #expect(response.status == 200)
            #expect(response.body == Array("hello".utf8))
            #expect(response.maxAgeSeconds == 7)
            #expect(response.header("x-empty") == "")
            let request = try #require(server.requests.first).lowercased()
            #expect(request.hasPrefix("get /path?q=1 http/1.1\r\n"))
            #expect(request.contains("\r\nx-one: 1\r\n"))
            #expect(request.contains("\r\nx-none:"))
            #expect(!request.contains("content-type"))
        }
    }

    @Test func sendsABody() async throws {
        try await exchange { _ in Self.answer("", status: "503 Busy") } _: { client, server in
            let response = try await client.send(
                ClientRequest(method: "POST", url: server.url, headers: [("Content-Type", "text/plain")], body: Array("body".utf8)))
            #expect(response.status == 503)
            let request = try #require(server.requests.first)
            #expect(request.hasPrefix("POST / HTTP/1.1\r\n"))
            #expect(request.hasSuffix("\r\n\r\nbody"))
            #expect(!request.lowercased().contains("expect:"))
        }
    }

    @Test(arguments: ["POST", "PUT", "PATCH"]) func announcesAnEmptyBody(method: String) async throws {
        try await exchange { _ in Self.answer("") } _: { client, server in
            _ = try await client.send(ClientRequest(method: method, url: server.url))
            let request = try #require(server.requests.first)
            #expect(request.hasPrefix("\(method) "))
            #expect(request.lowercased().contains("\r\ncontent-length: 0\r\n"))
        }
    }

    @Test func takesAChunkedAnswerAndAHead() async throws {
        let chunked = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n".utf8)
        try await exchange { $0.hasPrefix("HEAD") ? Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8) : chunked } _: {
            client, server in
            #expect(try await client.send(ClientRequest(url: server.url)).body == Array("abcde".utf8))
            let head = try await client.send(ClientRequest(method: "HEAD", url: server.url))
            #expect(head.body.isEmpty)
            #expect(head.header("content-length") == "5")
        }
    }

    @Test func manyExchangesAtOnceEachGetTheirOwnAnswer() async throws {
        try await exchange { request in
            Self.answer(String(request.split(separator: " ")[1]))
        } _: { client, server in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        let response = try await client.send(ClientRequest(url: "\(server.url)/\(number)"))
                        return response.body == Array("/\(number)".utf8)
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            #expect(server.requests.count == 50)
        }
    }

    @Test func endsAtTheTimeLimit() async throws {
        try await exchange { _ in [] } _: { client, server in
            #expect(await failure(client, ClientRequest(url: server.url, timeoutMilliseconds: 50)) == .timeout)
        }
    }

    @Test func refusesAnAnswerOverTheLimit() async throws {
        let endless = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n".utf8) + [UInt8](repeating: 65, count: 64)
        try await exchange { $0.contains("/chunked") ? endless : Self.answer("0123456789") } _: { client, server in
            #expect(await failure(client, ClientRequest(url: server.url, responseBytesMax: 9)) == .responseTooLarge)
            #expect(await failure(client, ClientRequest(url: server.url + "/chunked", responseBytesMax: 9)) == .responseTooLarge)
            #expect(await failure(client, ClientRequest(url: server.url, responseBytesMax: 10)) == nil)
        }
    }

    @Test func saysWhenNobodyListens() async throws {
        let server = try await CannedServer { _ in nil }
        let url = server.url
        server.stop()
        try await exchange { _ in nil } _: { client, _ in
            #expect(await failure(client, ClientRequest(url: url)) == .connect)
        }
    }

    @Test func saysWhenTheConnectionBreaks() async throws {
        try await exchange { _ in nil } _: { client, server in
            #expect(await failure(client, ClientRequest(url: server.url)) == .transfer)
        }
    }

    @Test func redirectsAreFollowedOnlyWhenAllowed() async throws {
        try await exchange { request in
            request.hasPrefix("GET /old") ? Self.answer("moved", status: "302 Found", headers: "Location: /new\r\n") : Self.answer("new")
        } _: { client, server in
            #expect(try await client.send(ClientRequest(url: server.url + "/old")).status == 302)
            let followed = try await client.send(ClientRequest(url: server.url + "/old", redirectsMax: 1))
            #expect(followed.status == 200)
            #expect(followed.body == Array("new".utf8))
            #expect(followed.header("location") == nil)
        }
    }

    @Test func redirectsEnd() async throws {
        try await exchange { _ in Self.answer("", status: "302 Found", headers: "Location: /again\r\n") } _: { client, server in
            #expect(await failure(client, ClientRequest(url: server.url, redirectsMax: 3)) == .redirect)
            #expect(server.requests.count == 4)
        }
    }

    @Test func redirectsDoNotLeaveHTTP() async throws {
        try await exchange { _ in Self.answer("", status: "302 Found", headers: "Location: file:///etc/passwd\r\n") } _: { client, server in
            #expect(await failure(client, ClientRequest(url: server.url, redirectsMax: 3)) == .redirect)
        }
    }

    @Test(arguments: [
        ClientRequest(url: "file:///etc/passwd"), ClientRequest(url: "http://a b/"), ClientRequest(url: "http://a/\r\nX: y"),
        ClientRequest(url: ""), ClientRequest(method: "GET / HTTP/1.1\r\nX: y\r\n", url: "http://a/"),
        ClientRequest(url: "http://a/", headers: [("X", "a\r\nY: b")]), ClientRequest(url: "http://a/", headers: [("X:", "a")]),
        ClientRequest(url: "http://a/", headers: [("", "a")]), ClientRequest(url: "http://a/", timeoutMilliseconds: 0),
    ]) func refusesWhatCannotBeSent(request: ClientRequest) async throws {
        try await exchange { _ in nil } _: { client, _ in
            #expect(await failure(client, request) == .invalidRequest)
        }
    }

    @Test func itsSocketsAreNotInherited() async throws {
        try await exchange { _ in Self.answer("") } _: { client, server in
            // The connection is kept after the answer.
            _ = try await client.send(ClientRequest(url: server.url))
            let sockets = (Int32(3)..<65_536).filter { Self.peerPort($0) == server.port }
            #expect(sockets.map { fcntl($0, F_GETFD) & FD_CLOEXEC } == [FD_CLOEXEC])
        }
    }

    private static func peerPort(_ descriptor: Int32) -> Int? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        return code == 0 && address.sin_family == sa_family_t(AF_INET) ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }

    @Test func cancellingTheTaskEndsTheExchange() async throws {
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        try await exchange { _ in
            ask.yield()
            return []
        } _: { client, server in
            let task = Task { await failure(client, ClientRequest(url: server.url)) }
            for await _ in asked { break }
            task.cancel()
            #expect(await task.value == .cancelled)
        }
    }

    @Test func aCancelledTaskSendsNothing() async throws {
        try await exchange { _ in nil } _: { client, server in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await failure(client, ClientRequest(url: server.url))
            }
            #expect(await task.value == .cancelled)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func closingEndsWhatIsUnderWay() async throws {
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        try await exchange { _ in
            ask.yield()
            return []
        } _: { client, server in
            let task = Task { await failure(client, ClientRequest(url: server.url)) }
            for await _ in asked { break }
            client.close()
            #expect(await task.value == .cancelled)
            #expect(await failure(client, ClientRequest(url: server.url)) == .cancelled)
        }
    }

    @Test(arguments: [
        ("max-age=5", 5), ("public, Max-Age = \"60\" , must-revalidate", 60), ("max-age=x", nil), ("no-store, max-age=5", 0),
        ("private", nil), ("max-age=-1", 0),
    ] as [(String, Int?)]) func readsMaxAge(value: String, expected: Int?) {
        #expect(ClientResponse(status: 200, headers: [("cache-control", value)], body: []).maxAgeSeconds == expected)
    }

    @Test(arguments: [("3", 2), ("9", 0), ("-1", 5), ("x", 5)]) func theTimeInACacheCounts(age: String, expected: Int) {
        let headers = [(name: "cache-control", value: "max-age=5"), (name: "age", value: age)]
        #expect(ClientResponse(status: 200, headers: headers, body: []).maxAgeSeconds == expected)
    }
}
