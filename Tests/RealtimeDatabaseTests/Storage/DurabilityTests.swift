import Glibc
import Store
import Testing

@testable import RealtimeDatabase

/// The state that a killed process leaves. Each child is a separate process.
@Suite("Stores and kill -9")
struct DurabilityTests {
    @Test("what was committed is there after a kill, and nothing of what was not", arguments: 0..<4)
    func survivesKills(round: Int) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        for _ in 0..<3 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String, round = round as Int] in
                try NumberedWrites.run(in: folder, killedAfterMicroseconds: UInt32(3000 + 23_000 * round))
            }
            try NumberedWrites.check(in: folder)
        }
    }

    @Test("the log of a killed process is not scanned beyond its own size")
    func opensAtOnce() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
            let store = try SQLiteStorage(directory: folder).openWriter(namespace: "a")
            for number in 0..<50 as Range<UInt8> {
                try store.write { () throws(StoreError) in
                    for key in 0..<200 as Range<UInt8> { try store.put([number, key], Array(repeating: key, count: 100)) }
                }
                _ = try store.checkpoint(.committed)
            }
            kill(getpid(), SIGKILL)
        }
        // The log is bounded while there is no snapshot, and so is the part of it that a start reads.
        #expect(StoreFiles.size("\(folder)/a.sqlite-wal") <= 2 * StoreSettings().logPagesMax * 4120)
        let store = try SQLiteStorage(directory: folder).openWriter(namespace: "a")
        #expect(try store.rows().count == 50 * 200)
    }
}

/// Transactions that write their number to each of ten keys, told to a file when they are committed.
private enum NumberedWrites {
    static let keys = (UInt8(0)..<10).map { [$0] }

    static func run(in folder: String, killedAfterMicroseconds: UInt32) throws {
        let store = try SQLiteStorage(directory: folder).openWriter(namespace: "a")
        let told = open("\(folder)/told", O_CREAT | O_WRONLY, 0o600)
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { context in
                usleep(UInt32(UInt(bitPattern: context)))
                kill(getpid(), SIGKILL)
                return nil
            }, UnsafeMutableRawPointer(bitPattern: UInt(killedAfterMicroseconds)))
        var number = try store.value([0]).map(decode) ?? 0
        // Otherwise two children in a row that are killed before they report are ahead by two.
        var bytes = encode(number)
        pwrite(told, &bytes, bytes.count, 0)
        while true {
            number += 1
            bytes = encode(number)
            try store.write { () throws(StoreError) in
                for key in keys { try store.put(key, bytes) }
            }
            pwrite(told, &bytes, bytes.count, 0)
            _ = try store.checkpoint(number % 50 == 0 ? .idle : .committed)
        }
    }

    static func check(in folder: String) throws {
        let store = try SQLiteStorage(directory: folder).openWriter(namespace: "a")
        let numbers = try keys.map { try store.value($0).map(decode) ?? 0 }
        #expect(Set(numbers).count == 1)
        var bytes = encode(0)
        let told = open("\(folder)/told", O_RDONLY)
        defer { close(told) }
        let count = read(told, &bytes, bytes.count)
        // The child may have been killed between its commit and telling of it.
        if count == bytes.count { #expect(numbers[0] == decode(bytes) || numbers[0] == decode(bytes) + 1) }
    }

    private static func encode(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func decode(_ bytes: [UInt8]) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
