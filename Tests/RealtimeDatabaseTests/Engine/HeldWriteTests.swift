import EventLoop
import Testing
import Tree

@testable import RealtimeDatabase

/// Writes that arrive before it is known which functions they run.
@Suite struct HeldWriteTests {
    private static func triggers() throws -> TriggerTable {
        TriggerTable([try TriggerDeclaration(function: "f", kind: .written, pattern: PathPattern(parsing: "/{id}"))])
    }

    private static func limits(_ change: (inout HeldWriteLimits) -> Void) -> DatabaseLimits {
        var limits = DatabaseLimits()
        // Longer than any test, however busy the machine is.
        limits.heldWrites.milliseconds = 600_000
        change(&limits.heldWrites)
        return limits
    }

    /// The outcome of a write that is asked for now, whenever that is known.
    private static func begin(_ run: EngineRun, _ request: WriteRequest) -> Task<WriteOutcome, any Error> {
        Task { try await run.write(request) }
    }

    /// Until the writer has so many.
    private static func untilHeld(_ run: EngineRun, _ count: Int) async throws {
        let namespace = try run.namespace()
        while true {
            let held: Int = await run.answer { loop, done in
                let done = LoopBound(done, loop: loop)
                namespace.onWriter { writer in
                    let count = writer.heldWrites?.count ?? 0
                    loop.post { done.value(count) }
                }
            }
            if held == count { return }
        }
    }

    @Test func theyAreDoneInTheirOrderAndRaiseEvents() async throws {
        let raised = Notes<EventAnnouncement>()
        let run = try EngineRun(MemoryStorage(), limits: Self.limits { _ in }, awaitsTriggers: true) { raised.add($0) }
        // Some functions, which are not all, do not let them go.
        run.database.useTriggers(TriggerTable([]), isComplete: false)
        var writes: [Task<WriteOutcome, any Error>] = []
        for number in 1...3 {
            writes.append(Self.begin(run, try .put("/a", "\(number)")))
            try await Self.untilHeld(run, number)
        }
        #expect(try await run.json() == "null")
        run.database.useTriggers(try Self.triggers())
        for write in writes { #expect(try await write.value.commit == 1) }
        #expect(try await run.json() == #"{"a":3}"#)
        #expect(try await run.put("/b", "1").commit == 2)
        // Another question of the writer: it has told of the events by then.
        _ = try await run.rules()
        #expect(raised.all.flatMap(\.events).map { "\($0.path)" } == ["/a", "/a", "/a", "/b"])
    }

    @Test func aNamespaceThatIsOpenedLaterKnows() async throws {
        let raised = Notes<EventAnnouncement>()
        let run = try EngineRun(MemoryStorage(), limits: Self.limits { _ in }, awaitsTriggers: true) { raised.add($0) }
        run.database.useTriggers(try Self.triggers())
        try await run.put("/a", "1")
        _ = try await run.rules()
        #expect(raised.all.count == 1)
    }

    @Test func thoseThatRunNothingDoNotWait() async throws {
        let run = try EngineRun(MemoryStorage(), limits: Self.limits { _ in }, awaitsTriggers: true)
        var request = try WriteRequest.put("/a", "1")
        request.raisesTriggers = false
        #expect(try await run.write(request).commit == 1)
    }

    @Test func theyWaitForALimitedTime() async throws {
        let run = try EngineRun(MemoryStorage(), limits: Self.limits { $0.milliseconds = 20 }, awaitsTriggers: true)
        let outcome = try await run.put("/a", "1")
        #expect(outcome.error?.kind == .unavailable && outcome.error?.message.contains("still being loaded") == true)
        run.database.useTriggers(try Self.triggers())
        #expect(try await run.json() == "null")
        #expect(try await run.put("/a", "2").commit == 1)
    }

    @Test func thereAreNoMoreThanALimitAllows() async throws {
        let run = try EngineRun(MemoryStorage(), limits: Self.limits { $0.countMax = 1 }, awaitsTriggers: true)
        let first = Self.begin(run, try .put("/a", "1"))
        try await Self.untilHeld(run, 1)
        #expect(try await run.put("/a", "2").error?.kind == .unavailable)
        run.database.useTriggers(try Self.triggers())
        #expect(try await first.value.commit == 1)
        #expect(try await run.json() == #"{"a":1}"#)
    }

    @Test func theyHoldNoMoreBytesThanALimitAllows() async throws {
        let run = try EngineRun(MemoryStorage(), limits: Self.limits { $0.bytesMax = 10 }, awaitsTriggers: true)
        var request = try WriteRequest.put("/a", "1")
        request.bytes = 11
        let first = Self.begin(run, request)
        try await Self.untilHeld(run, 1)
        #expect(try await run.write(request).error?.kind == .unavailable)
        run.database.useTriggers(try Self.triggers())
        #expect(try await first.value.commit == 1)
    }

    @Test func aStopRefusesThem() async throws {
        let run = try EngineRun(MemoryStorage(), limits: Self.limits { _ in }, awaitsTriggers: true)
        let write = Self.begin(run, try .put("/a", "1"))
        try await Self.untilHeld(run, 1)
        run.database.refuseHeldWrites()
        #expect(try await write.value.error?.message == DatabaseError.stopping.message)
        #expect(try await run.put("/a", "2").error?.message == DatabaseError.stopping.message)
        #expect(try await run.json() == "null")
    }

    @Test func theyKeepTheirNamespaceOpen() async throws {
        let run = try EngineRun(MemoryStorage(), limits: Self.limits { _ in }, awaitsTriggers: true)
        let write = Self.begin(run, try .put("/a", "1"))
        try await Self.untilHeld(run, 1)
        try await run.tryToRest()
        run.database.useTriggers(try Self.triggers())
        #expect(try await write.value.commit == 1)
    }
}
