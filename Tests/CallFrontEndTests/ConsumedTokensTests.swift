import EventLoop
import Glibc
import Logging
import Synchronization
import Testing

@testable import CallFrontEnd

/// App Check tokens that count once.
@Suite struct ConsumedTokensTests {
    private let path = "/tmp/hearth-consumed-\(getpid())-\(UInt64.random(in: 0 ... .max)).sqlite"

    private final class Clock: Sendable {
        let seconds = Atomic(1_000_000)
    }

    private func use(_ tokens: ConsumedTokens, _ token: String, forgetAt: Int = 1_000_060) async -> ConsumedTokens.Use {
        await withCheckedContinuation { continuation in
            tokens.consume(Array(token.utf8), forgetAt: forgetAt) { continuation.resume(returning: $0) }
        }
    }

    private func withTokens(_ clock: Clock = Clock(), _ body: (ConsumedTokens) async throws -> Void) async throws {
        let thread = try LoopThread()
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        try await body(ConsumedTokens(path: path, loop: thread.loop, log: log) { clock.seconds.load(ordering: .relaxed) })
        thread.join()
    }

    private func removeFile() { for ending in ["", "-wal", "-shm"] { unlink(path + ending) } }

    @Test func theSecondUseIsSeenAlsoByTheNextHost() async throws {
        defer { removeFile() }
        try await withTokens { tokens in
            #expect(await use(tokens, "a.b.c") == .first)
            #expect(await use(tokens, "a.b2.c") == .first)
            #expect(await use(tokens, "a.b.c") == .repeated)
            #expect(await use(tokens, "a.b.C") == .repeated, "the same token, its signature written in another way")
        }
        try await withTokens { tokens in #expect(await use(tokens, "a.b.c") == .repeated) }
    }

    @Test func oneOfManyAtOnceIsTheFirst() async throws {
        defer { removeFile() }
        try await withTokens { tokens in
            let firsts = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 { group.addTask { await use(tokens, "a.b.c") == .first } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(firsts == 1)
        }
    }

    @Test func isForgottenAfterItHasExpired() async throws {
        defer { removeFile() }
        let clock = Clock()
        try await withTokens(clock) { tokens in
            #expect(await use(tokens, "a.b.c") == .first)
            clock.seconds.add(60, ordering: .relaxed)
            #expect(await use(tokens, "a.b.c") == .repeated)
            clock.seconds.add(61, ordering: .relaxed)
            #expect(await use(tokens, "a.b.c", forgetAt: 2_000_000) == .first)
        }
    }

    @Test func aFileThatCannotBeUsedSaysNothing() async throws {
        defer { rmdir(path) }
        mkdir(path, 0o700)
        try await withTokens { tokens in #expect(await use(tokens, "a.b.c") == .unknown) }
    }
}
