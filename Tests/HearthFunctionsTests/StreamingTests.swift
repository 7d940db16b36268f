import CHearth
import Testing

@testable import HearthFunctions

extension SDK {
    @Suite struct Streaming {
        private func host() throws -> FakeHost {
            try #require(
                FakeHost(
                    Functions {
                        OnCall("countdown") { (request: CallableRequest<Int>, response) in
                            var sent = 0
                            for number in stride(from: request.data, to: 0, by: -1) {
                                if try await response.sendChunk(["n": number]) { sent += 1 }
                            }
                            return sent
                        }
                        OnCall("silent") { (_: CallableRequest<JSONValue>, _) in }
                        OnCall("fails") { (_: CallableRequest<JSONValue>, response) in
                            try await response.sendChunk("partial")
                            try await response.sendChunk(Double.nan)
                        }
                        OnRequest("lines") { request, response in
                            response.start(status: 201, headers: ["X-A": "b"])
                            for number in 1...3 { await response.write("\(number)\n") }
                        }
                        OnRequest("bytes") { _, response in await response.write([1, 2]) }
                        OnRequest("empty") { _, _ in }
                        OnRequest("twice") { _, response in
                            await response.write(response.start() ? "first " : "no ")
                            await response.write(response.start() ? "again" : "once")
                        }
                    }))
        }

        @Test func chunksComeInOrder() throws {
            let host = try host()
            #expect(host.call("countdown", "3") == .result("3"))
            #expect(host.chunks[1] == [#"{"n":3}"#, #"{"n":2}"#, #"{"n":1}"#])
            #expect(host.call("silent") == .result("null"))
        }

        @Test func withoutAReaderChunksAreNotSent() throws {
            let host = try host()
            host.flowAfter = (0, HEARTH_GONE)
            #expect(host.call("countdown", "3") == .result("0"))
        }

        @Test func aSlowReaderHoldsTheFunction() throws {
            let host = try host()
            host.flowAfter = (1, HEARTH_PRESSURE)
            let id = host.start("countdown", "3")
            #expect(host.chunks[id]?.count == 2)
            host.drained(id)
            host.run { host.chunks[id]?.count == 3 }
            #expect(host.answers[id] == nil)
            host.drained(id)
            #expect(host.answer(of: id) == .result("3"))
        }

        @Test func whoWaitsForAReaderIsFreedByCancelling() throws {
            let host = try host()
            host.flowAfter = (0, HEARTH_PRESSURE)
            let id = host.start("countdown", "1")
            host.cancel(id)
            #expect(host.answer(of: id) == .result("0"))
        }

        @Test func aChunkThatJSONCannotHoldFailsTheCall() throws {
            let host = try host()
            #expect(host.call("fails") == .internalError)
            #expect(host.chunks[1] == ["\"partial\""])
        }

        @Test func plainAnswersPieceByPiece() throws {
            let host = try host()
            let end = FakeHost.Answer(kind: HEARTH_END.rawValue, head: "", body: "")
            #expect(host.call("lines") == end)
            #expect(host.heads[1] == #"{"status":201,"headers":["X-A","b"]}"#)
            #expect(host.chunks[1] == ["1\n", "2\n", "3\n"])
            #expect(host.call("bytes") == end)
            #expect(host.heads[2] == #"{"status":200,"headers":[]}"#)
            #expect(host.call("twice") == end)
            #expect(host.chunks[3] == ["first ", "once"])
        }

        @Test func nothingWrittenIsAnEmptyAnswer() throws {
            let empty = FakeHost.Answer(kind: HEARTH_RESPONSE.rawValue, head: #"{"status":200,"headers":[]}"#, body: "")
            #expect(try host().call("empty") == empty)
        }
    }
}
