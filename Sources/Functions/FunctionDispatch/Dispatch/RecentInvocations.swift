import HTTP
import WorkerProtocol

/// The last invocations of a worker. Log lines arrive on another socket than answers, and may arrive after them.
struct RecentInvocations {
    struct Entry {
        var id: InvocationID
        var trace: TraceContext?
        var version: Int
        /// The function's index in the plugin's manifest.
        var function: UInt32
    }

    private static let countMax = 512
    private var entries: ContiguousArray<Entry> = []

    /// Adds an invocation, in place of the oldest one. Generations count from 1 without gaps.
    @inline(__always)
    mutating func append(_ entry: Entry) {
        if entries.count < Self.countMax { return entries.append(entry) }
        entries[Self.place(of: entry.id)] = entry
    }

    /// The entry of invocation `id`, if it was not replaced yet.
    func find(_ id: InvocationID) -> Entry? {
        guard id.rawValue != 0 else { return nil }
        let place = Self.place(of: id)
        guard place < entries.count, entries[place].id == id else { return nil }
        return entries[place]
    }

    @inline(__always)
    private static func place(of id: InvocationID) -> Int { Int(truncatingIfNeeded: (id.generation &- 1) & UInt64(countMax - 1)) }
}
