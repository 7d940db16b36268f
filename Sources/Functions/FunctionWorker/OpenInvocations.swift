import WorkerProtocol

/// The invocations that a plugin has yet to answer, found by slot.
public struct OpenInvocations {
    /// Bytes of chunks that may be on their way to the client before the plugin is asked to wait.
    public static let windowBytes = 256 * 1024

    /// Bytes of chunks after which a plugin that does not wait is not listened to any more.
    public static let unacknowledgedBytesMax = 16 << 20

    private struct Entry {
        var id = InvocationID(rawValue: 0)
        var takesChunks = false
        var isWaiting = false
        var unacknowledgedBytes = 0
    }

    private var entries: [Entry] = []
    /// How many are open.
    public private(set) var count = 0

    /// None is open.
    public init() {}

    /// Whether `id` still waits for its answer.
    @inline(__always)
    public func contains(_ id: InvocationID) -> Bool { id.slot < entries.count && entries[id.slot].id == id && id.rawValue != 0 }

    /// Opens `id`; one that had its slot before is forgotten.
    public mutating func open(_ id: InvocationID, takesChunks: Bool) {
        while entries.count <= id.slot { entries.append(Entry()) }
        if entries[id.slot].id.rawValue == 0 { count += 1 }
        entries[id.slot] = Entry(id: id, takesChunks: takesChunks)
    }

    /// Closes `id`.
    ///
    /// - Returns: false when it was not open: an answer too many.
    public mutating func close(_ id: InvocationID) -> Bool {
        guard contains(id) else { return false }
        entries[id.slot].id = InvocationID(rawValue: 0)
        count -= 1
        return true
    }

    /// Nobody reads this invocation's chunks any more.
    public mutating func stopChunks(_ id: InvocationID) {
        if contains(id) { entries[id.slot].takesChunks = false }
    }

    /// Lets chunks through from now on, as a response that was started does.
    public mutating func allowChunks(_ id: InvocationID) -> PluginFlow {
        guard contains(id), entries[id.slot].takesChunks else { return .gone }
        return .goOn
    }

    /// Counts a chunk of `size` bytes; the caller sends it unless this says that nobody reads.
    public mutating func send(_ id: InvocationID, size: Int) -> PluginFlow {
        guard contains(id), entries[id.slot].takesChunks, entries[id.slot].unacknowledgedBytes < Self.unacknowledgedBytesMax else {
            return .gone
        }
        entries[id.slot].unacknowledgedBytes += size
        guard entries[id.slot].unacknowledgedBytes > Self.windowBytes else { return .goOn }
        entries[id.slot].isWaiting = true
        return .pressure
    }

    /// The client has taken `size` bytes.
    ///
    /// - Returns: whether the plugin waits for this news.
    public mutating func acknowledge(_ id: InvocationID, size: Int) -> Bool {
        guard contains(id) else { return false }
        entries[id.slot].unacknowledgedBytes = max(0, entries[id.slot].unacknowledgedBytes - size)
        guard entries[id.slot].isWaiting, entries[id.slot].unacknowledgedBytes <= Self.windowBytes / 2 else { return false }
        entries[id.slot].isWaiting = false
        return true
    }
}
