import Glibc
import Store
import Synchronization
import Testing

@testable import RealtimeDatabase

@Suite("Snapshots")
struct SnapshotTests {
    @Test("a snapshot stays as it was, and ends", arguments: EngineUnderTest.allCases)
    func stays(engine: EngineUnderTest) throws {
        try engine.with { engine in
            let writer = try engine.openWriter(namespace: "a")
            let reader = try engine.openReader(namespace: "a")
            let other = try engine.openReader(namespace: "a")
            try writer.write { () throws(StoreError) in try writer.put([1], [1]) }
            try reader.beginSnapshot()
            try writer.write { () throws(StoreError) in
                try writer.put([1], [2])
                try writer.put([2], [2])
            }
            try other.beginSnapshot()
            #expect(try reader.value([1]) == [1])
            #expect(try reader.value([2]) == nil)
            #expect(try other.value([1]) == [2])
            reader.endSnapshot()
            #expect(try reader.value([1]) == [2])
            try reader.beginSnapshot()
            reader.endSnapshot()
            reader.endSnapshot()
        }
    }

    @Test("a snapshot is taken when it begins, not with its first read", arguments: EngineUnderTest.allCases)
    func beginsAtOnce(engine: EngineUnderTest) throws {
        try engine.with { engine in
            let writer = try engine.openWriter(namespace: "a")
            let reader = try engine.openReader(namespace: "a")
            try reader.beginSnapshot()
            try writer.write { () throws(StoreError) in try writer.put([1], [1]) }
            #expect(try reader.value([1]) == nil)
        }
    }

    @Test("what is not committed is seen by nobody else", arguments: EngineUnderTest.allCases)
    func hidesOpenTransactions(engine: EngineUnderTest) throws {
        try engine.with { engine in
            let writer = try engine.openWriter(namespace: "a")
            let reader = try engine.openReader(namespace: "a")
            try writer.begin()
            try writer.put([1], [1])
            #expect(writer.isInTransaction)
            #expect(try writer.value([1]) == [1])
            #expect(try reader.value([1]) == nil)
            writer.rollback()
            writer.rollback()
            #expect(try writer.value([1]) == nil)
            #expect(!writer.isInTransaction)
        }
    }

    @Test("a reader on another thread sees whole commits only", arguments: EngineUnderTest.allCases)
    func isIsolatedAcrossThreads(engine: EngineUnderTest) throws {
        try engine.with { engine in
            let writer = try engine.openWriter(namespace: "a")
            // Two hundred keys always have the same value, and the values only grow.
            let keys = (UInt8(0)..<200).map { [$0, 1, 2] }
            try writer.write { () throws(StoreError) in for key in keys { try writer.put(key, [0]) } }
            let observer = Observer(engine)
            observer.start()
            for round in UInt8(1)...200 {
                try writer.write { () throws(StoreError) in for key in keys { try writer.put(key, [round]) } }
                _ = try writer.checkpoint(round % 7 == 0 ? .idle : .committed)
            }
            #expect(observer.end() == [])
        }
    }
}

/// A thread that takes snapshots until it is told to end, and notes what should not be.
private final class Observer: Sendable {
    private let engine: any StorageEngine
    private let isOver = Atomic(false)
    private let problems = Mutex<[String]>([])
    private let thread = Mutex<pthread_t?>(nil)

    init(_ engine: any StorageEngine) {
        self.engine = engine
    }

    func start() {
        var id = pthread_t()
        pthread_create(
            &id, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Observer>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        thread.withLock { $0 = id }
    }

    /// Problems, also that there was nothing to see.
    func end() -> [String] {
        isOver.store(true, ordering: .releasing)
        if let id = thread.withLock({ $0 }) { pthread_join(id, nil) }
        return problems.withLock { $0 }
    }

    private func run() {
        do throws(StoreError) {
            let reader = try engine.openReader(namespace: "a")
            var last: UInt8 = 0
            while !isOver.load(ordering: .acquiring) {
                try reader.beginSnapshot()
                let first = try reader.rows().map(\.value)
                let second = try reader.rows(reversed: true).map(\.value)
                reader.endSnapshot()
                if first.count != 200 || Set(first).count != 1 || second != first { note("torn: \(Set(first)) \(Set(second))") }
                if let value = first.first?.first {
                    if value < last { note("back from \(last) to \(value)") }
                    last = value
                }
            }
        } catch {
            note("\(error)")
        }
    }

    private func note(_ problem: String) { problems.withLock { $0.append(problem) } }
}
