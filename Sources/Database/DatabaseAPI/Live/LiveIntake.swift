import EventLoop

/// The size of the requests of a client that are not complete.
struct LiveIntake: ~Copyable {
    private var bytes = 0
    private var charge: MemoryCharge

    /// The size from which on no more requests are read.
    private static let bytesMax = 1024 * 1024
    /// The memory is counted in steps, so that small requests need no counting.
    private static let step = 16 * 1024

    /// - Parameter charge: counts the memory.
    init(_ charge: consuming MemoryCharge) { self.charge = charge }

    /// Whether no more should be read.
    var isFull: Bool { bytes >= Self.bytesMax }

    /// Whether reading may go on.
    var hasRoom: Bool { bytes < Self.bytesMax / 2 }

    /// The memory that a request may take.
    func room(mayExceed: Bool) -> Int { charge.room(mayExceed: mayExceed) }

    /// Adds a request.
    ///
    /// - Returns: whether there is memory for it.
    mutating func add(_ count: Int) -> Bool {
        bytes += count
        let counted = bytes / Self.step * Self.step
        return counted == charge.bytes || charge.grow(to: counted) == .granted
    }

    /// Removes a request that is complete.
    mutating func remove(_ count: Int) {
        bytes -= count
        let counted = bytes / Self.step * Self.step
        if counted < charge.bytes { charge.set(to: counted) }
    }

    /// Counts nothing more.
    mutating func end() { charge.set(to: 0) }
}
