import WorkerProtocol

/// The traces of the last invocations that had one.
struct RecentTraces {
    private static let countMax = 256
    private var entries: [(id: InvocationID, trace: String)] = []
    private var next = 0

    /// Remembers one, in the place of the oldest.
    mutating func append(_ id: InvocationID, _ trace: String) {
        if entries.count < Self.countMax {
            entries.append((id, trace))
        } else {
            entries[next] = (id, trace)
        }
        next = (next + 1) % Self.countMax
    }

    /// The trace of `id`, if it is not too long ago.
    func find(_ id: InvocationID) -> String? { entries.first { $0.id == id }?.trace }
}
