import HTTP
import Testing

@Suite struct PipeliningTests {
    private func get(_ path: String, _ fields: String = "") -> String { "GET \(path) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n" }

    @Test func answersComeInOrder() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send(get("/hello") + SmugglingTests.post + "Content-Length: 3\r\n\r\nabc" + get("/pieces") + get("/info"))
        #expect(client.readAnswer().text == "hello")
        #expect(client.readAnswer().text == "abc")
        #expect(client.readAnswer().text == "hello world")
        #expect(client.readAnswer().text == "GET /info ?  @ a\nHost=a")
    }

    @Test func aThousandInOneWrite() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send(String(repeating: get("/hello"), count: 1000))
        for _ in 0..<1000 { #expect(client.readAnswer().text == "hello") }
    }

    @Test func laterRequestsWaitForTheAnswerBefore() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send(get("/later") + get("/hello"))
        #expect(server.log.wait(for: "request /later"))
        #expect(!server.log.all.contains("head /hello"))
        _ = server.onLoop { _, routes in routes.answerHeld("at last") }
        #expect(client.readAnswer().text == "at last")
        #expect(client.readAnswer().text == "hello")
    }

    @Test func whatIsPipelinedIsBounded() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send(get("/later"))
        #expect(server.log.wait(for: "request /later"))
        let count = 20_000
        let sender = Box(client)
        let text = Array(String(repeating: get("/hello"), count: count).utf8)
        let done = EventLog()
        spawn {
            _ = sender.value.send(text)
            done.add("sent")
        }
        _ = server.onLoop { _, routes in routes.answerHeld("at last") }
        #expect(client.readAnswer().text == "at last")
        for _ in 0..<count where client.readAnswer().text != "hello" {
            Issue.record("an answer is missing")
            break
        }
        #expect(done.wait(for: "sent"))
    }

    @Test func closeEndsThePipeline() throws {
        let answers = try TestServer().exchange(get("/hello", "Connection: close\r\n") + get("/echo"))
        #expect(answers.components(of: "HTTP/1.1 ").count == 1)
        #expect(answers.contains("\r\nConnection: close\r\n"))
    }

    @Test(arguments: ["close, te", "TE , Close", "keep-alive, close"]) func closeIsFoundInLists(_ value: String) throws {
        let answers = try TestServer().exchange(get("/hello", "Connection: \(value)\r\n") + get("/hello"))
        #expect(answers.components(of: "HTTP/1.1 ").count == 1)
    }

    @Test func connectionsOfHTTP10AreKeptOnlyWhenAsked() throws {
        let server = try TestServer()
        #expect(server.exchange("GET /hello HTTP/1.0\r\n\r\nGET /hello HTTP/1.0\r\n\r\n").components(of: "HTTP/1.1 ").count == 1)
        let client = server.connect()
        for _ in 0..<3 {
            client.send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let answer = client.readAnswer()
            #expect(answer.text == "hello")
            #expect(answer.fields["connection"] == "keep-alive")
        }
    }

    @Test func refusedWithoutReadingTheBody() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send("POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello" + get("/hello"))
        #expect(client.readAnswer().text == "nothing here")
        #expect(client.readAnswer().text == "hello")
    }

    @Test func refusedBodyThatIsTooLongToSkip() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send("POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\nhello")
        let answer = client.readAnswer()
        #expect(answer.status == 404)
        #expect(answer.fields["connection"] == "close")
        #expect(client.isAtEnd())
    }

    @Test func unwantedBodyIsSkippedBeforeTheAnswer() throws {
        let server = try TestServer()
        let client = server.connect()
        client.send("POST /unwanted HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello" + get("/hello"))
        #expect(server.log.wait(for: "head /unwanted"))
        _ = server.onLoop { _, routes in routes.answerHeld("not needed") }
        #expect(client.readAnswer().text == "not needed")
        #expect(client.readAnswer().text == "hello")
    }
}
