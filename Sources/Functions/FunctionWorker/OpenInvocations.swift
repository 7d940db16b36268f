import WorkerProtocol

/// The unanswered invocations of a plugin, found by slot.
public struct OpenInvocations {
    /// Bytes of unacknowledged chunks before the plugin is asked to wait.
    public static let windowBytes = 256 * 1024

    /// Bytes of unacknowledged chunks after which chunks of a plugin that does not wait are refused.
    public static let unacknowledgedBytesMax = 16 << 20

    private struct Entry {
        var id = InvocationID(rawValue: 0)
        var takesChunks = false
        var isWaiting = false
        var unacknowledgedBytes = 0
    }

    private var entries: [Entry] = []
    /// The number of open invocations.
    public private(set) var count = 0

    /// Creates a table without open invocations.
    public init() {}

    /// Whether `id` is unanswered.
    @inline(__always)
    public func contains(_ id: InvocationID) -> Bool { id.slot < entries.count && entries[id.slot].id == id && id.rawValue != 0 }

    /// Opens `id`; drops a previous invocation of its slot.
    public mutating func open(_ id: InvocationID, takesChunks: Bool) {
        while entries.count <= id.slot { entries.append(Entry()) }
        if entries[id.slot].id.rawValue == 0 { count += 1 }
        entries[id.slot] = Entry(id: id, takesChunks: takesChunks)
    }

    /// Closes `id`.
    ///
    /// - Returns: false if it was not open, so that this is a second answer.
    public mutating func close(_ id: InvocationID) -> Bool {
        guard contains(id) else { return false }
        entries[id.slot].id = InvocationID(rawValue: 0)
        count -= 1
        return true
    }

    /// Refuses further chunks of this invocation, because the client no longer reads them.
    public mutating func stopChunks(_ id: InvocationID) {
        if contains(id) { entries[id.slot].takesChunks = false }
    }

    /// Allows chunks from now on, for a response that was started.
    public mutating func allowChunks(_ id: InvocationID) -> PluginFlow {
        guard contains(id), entries[id.slot].takesChunks else { return .gone }
        return .goOn
    }

    /// Counts a chunk of `size` bytes. The caller sends it unless the result is `gone`.
    public mutating func send(_ id: InvocationID, size: Int) -> PluginFlow {
        guard contains(id), entries[id.slot].takesChunks, entries[id.slot].unacknowledgedBytes < Self.unacknowledgedBytesMax else {
            return .gone
        }
        entries[id.slot].unacknowledgedBytes += size
        guard entries[id.slot].unacknowledgedBytes > Self.windowBytes else { return .goOn }
        entries[id.slot].isWaiting = true
        return .pressure
    }

    /// Records that the client has taken `size` bytes.
    ///
    /// - Returns: whether to notify the waiting plugin.
    public mutating func acknowledge(_ id: InvocationID, size: Int) -> Bool {
        guard contains(id) else { return false }
        entries[id.slot].unacknowledgedBytes = max(0, entries[id.slot].unacknowledgedBytes - size)
        guard entries[id.slot].isWaiting, entries[id.slot].unacknowledgedBytes <= Self.windowBytes / 2 else { return false }
        entries[id.slot].isWaiting = false
        return true
    }
}
