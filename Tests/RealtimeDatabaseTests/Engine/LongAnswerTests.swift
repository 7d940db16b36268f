import EventLoop
import Testing
import Tree

@testable import RealtimeDatabase

/// Answers that come piece by piece.
@Suite struct LongAnswerTests {
    private static let count = 40_000

    /// A node of about a MiB.
    private static func fill(_ run: EngineRun) async throws {
        let rows = (0..<count).map { "\"k\($0)\":\"\(String(repeating: "x", count: 20))\"" }.joined(separator: ",")
        try await run.put("/big", "{\(rows)}")
    }

    private static func begin(_ run: EngineRun, _ change: (inout ReadRequest) -> Void = { _ in }) async throws -> ValueStream {
        var request = ReadRequest(Path(["big"]), principal: .admin)
        change(&request)
        guard case .stream(let stream) = try await run.read(request) else { throw Unexpected() }
        return stream
    }

    private static func next(_ run: EngineRun, _ stream: ValueStream) async -> ValueStream.Piece {
        await run.answer { loop, done in stream.next(on: loop, completion: done) }
    }

    /// The rest of an answer.
    private static func rest(_ run: EngineRun, _ stream: ValueStream) async throws -> [UInt8] {
        var text = stream.first
        while true {
            switch await next(run, stream) {
            case .some(let piece): text += piece
            case .last(let piece): return text + piece
            case .failed(let error): throw error
            }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func allOfItIsOfOneState(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await Self.fill(run)
            let stream = try await Self.begin(run)
            try await run.put("/big", #"{"gone":true}"#)
            let text = try await Self.rest(run, stream)
            let node = try Draft(parsing: text.span).node
            #expect(node.leafCount == Self.count && node.child("gone").isEmpty)
            #expect(try await run.json("/big") == #"{"gone":true}"#)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func whatIsTooLargeIsRefusedBeforeItBegins(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await Self.fill(run)
            for kind: ReadRequest.Kind in [.value, .query(Query(order: .key)), .shallow(limit: nil, startAfter: nil)] {
                var request = ReadRequest(Path(["big"]), kind, principal: .admin)
                request.bytesMax = 10_000
                #expect(try await run.read(request).error?.kind == .tooLarge)
            }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func manyAtATimeAndSomeGivenUp(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await Self.fill(run)
            var streams: [ValueStream] = []
            for _ in 0..<12 { streams.append(try await Self.begin(run)) }
            for (index, stream) in streams.enumerated() where index % 3 == 0 {
                stream.cancel()
                guard case .failed(let error) = await Self.next(run, stream) else { throw Unexpected() }
                #expect(error.kind == .unavailable)
            }
            for (index, stream) in streams.enumerated() where index % 3 == 1 { #expect(try await Self.rest(run, stream).last == UInt8(ascii: "}")) }
            // The others are given up with their last owner.
            streams = []
            try await run.put("/big", "1")
            #expect(try await run.json("/big") == "1")
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func limits(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await Self.fill(run)
            let limited = try await Self.begin(run) { $0.bytesMax = 600_000 }
            await #expect(throws: DatabaseError.self) { _ = try await Self.rest(run, limited) }
            let late = try await Self.begin(run) { $0.deadline = 1 }
            guard case .failed(let error) = await Self.next(run, late) else { throw Unexpected() }
            #expect(error.kind == .timedOut)
            #expect(try await run.put("/after", "1").commit != nil)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func theEndOfTheHost(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await Self.fill(run)
            let stream = try await Self.begin(run)
            run.database.stop()
            guard case .failed(let error) = await Self.next(run, stream) else { throw Unexpected() }
            #expect(error.kind == .unavailable)
            stream.cancel()
        }
    }
}
