import CLibuv
import Glibc
import Synchronization

/// The memory that a host holds for others: requests on their way in, answers that wait to be read, what plugins ask of services.
///
/// Each purpose has a part of its own, so that too much of one leaves room for the others. Within the parts one client, or one
/// plugin, has a share. Shared by all threads; small things, and what the kernel takes at once, are not counted.
public final class MemoryBudget: Sendable {
    /// Data that clients send: bodies, and calls that wait for an instance. Half of the budget.
    public let requests: MemoryPart
    /// Answers that clients have not read yet. A quarter.
    public let answers: MemoryPart
    /// Payloads between plugins and services. A quarter.
    public let services: MemoryPart
    /// The share of one client in requests and answers.
    private let clientBytesMax: Int
    /// The share of one plugin in services.
    private let pluginBytesMax: Int
    private let shares = Mutex<[String: WeakShare]>([:])

    private struct WeakShare {
        weak var share: MemoryShare?
    }

    /// - Parameter bytesMax: of everything together.
    public init(bytesMax: Int) {
        requests = MemoryPart("requests", bytesMax / 2)
        answers = MemoryPart("answers", bytesMax / 4)
        services = MemoryPart("services", bytesMax / 4)
        clientBytesMax = bytesMax / 4
        pluginBytesMax = bytesMax / 8
    }

    /// Every part, for the metrics.
    public var parts: [MemoryPart] { [requests, answers, services] }

    /// The share of a client; all of its connections have the same one.
    ///
    /// - Parameter client: as ``NetworkAddress/customer``.
    public func share(ofClient client: NetworkAddress) -> MemoryShare { share("client \(client.bits)", clientBytesMax) }

    /// The share of a plugin; all of its instances have the same one.
    public func share(ofPlugin name: String) -> MemoryShare { share("plugin \(name)", pluginBytesMax) }

    private func share(_ key: String, _ bytesMax: Int) -> MemoryShare {
        shares.withLock { shares in
            if let share = shares[key]?.share { return share }
            let share = MemoryShare(bytesMax) { [weak self] in self?.forget(key) }
            shares[key] = WeakShare(share: share)
            return share
        }
    }

    private func forget(_ key: String) {
        // Another one of this name may have come meanwhile. This may be its last owner, whose end comes here again: not under the lock.
        _ = shares.withLock { shares in
            let other = shares[key]?.share
            if other == nil { shares[key] = nil }
            return other
        }
    }

    /// What a host may hold where nobody says otherwise: an eighth of the memory of the machine, or of the control group that the
    /// process is in; from 64 to 512 MiB.
    public static var standardBytes: Int {
        let limit = uv_get_constrained_memory()
        let machine = uv_get_total_memory()
        let bytes = limit > 0 && limit < machine ? limit : machine
        return min(max(Int(clamping: bytes / 8), 64 << 20), 512 << 20)
    }
}

/// A part of a ``MemoryBudget``.
public final class MemoryPart: Sendable {
    /// Its purpose, in one word.
    public let name: String
    /// The most bytes.
    public let bytesMax: Int
    fileprivate let used = Atomic(0)
    fileprivate let refused = Atomic(0)
    /// Whether one charge has more than the part, or a share, allows.
    fileprivate let isExceeded = Atomic(false)

    fileprivate init(_ name: String, _ bytesMax: Int) {
        self.name = name
        self.bytesMax = bytesMax
    }

    /// How much is held.
    public var bytes: Int { used.load(ordering: .relaxed) }
    /// How often something found no room.
    public var refusals: Int { refused.load(ordering: .relaxed) }
    /// Whether nothing more fits.
    public var isFull: Bool { bytes >= bytesMax }
    /// Whether three quarters are used: slow clients get shorter deadlines.
    public var isShort: Bool { bytes >= bytesMax / 4 * 3 }
}

/// The share of one client or plugin in a ``MemoryBudget``.
public final class MemoryShare: Sendable {
    /// The most bytes.
    public let bytesMax: Int
    fileprivate let used = Atomic(0)
    private let ended: @Sendable () -> Void

    fileprivate init(_ bytesMax: Int, ended: @escaping @Sendable () -> Void) {
        self.bytesMax = bytesMax
        self.ended = ended
    }

    deinit { ended() }

    /// How much is held.
    public var bytes: Int { used.load(ordering: .relaxed) }
    /// Whether nothing more fits.
    public var isFull: Bool { bytes >= bytesMax }
}

/// Counts held bytes in a part of the budget and in a share, until it is destroyed.
///
/// Any thread may destroy it; only its owner changes it.
public struct MemoryCharge: ~Copyable {
    /// Whether there is room.
    public enum Grant: Sendable {
        case granted
        /// The client or plugin has used up its share.
        case shareIsFull
        /// The part is full.
        case partIsFull
    }

    private let part: MemoryPart?
    private let share: MemoryShare?
    /// How much is counted.
    public private(set) var bytes = 0
    /// Whether it is the one that may exceed the part.
    private var exceeds = false

    /// A charge that never counts anything.
    public init() {
        part = nil
        share = nil
    }

    /// Counts nothing yet.
    public init(_ part: MemoryPart, _ share: MemoryShare?) {
        self.part = part
        self.share = share
    }

    deinit {
        guard let part, bytes > 0 else { return }
        part.used.subtract(bytes, ordering: .relaxed)
        share?.used.subtract(bytes, ordering: .relaxed)
        if exceeds { part.isExceeded.store(false, ordering: .releasing) }
    }

    /// Whether it counts anything at all.
    public var isBound: Bool { part != nil }

    /// How much it may come to now; no more than four times the part where it is the one that may have more than there is room for.
    ///
    /// - Parameter mayExceed: whether it should be that one.
    public func room(mayExceed: Bool) -> Int {
        guard let part else { return .max }
        if mayExceed, exceeds || !part.isExceeded.load(ordering: .relaxed) { return min(part.bytesMax, .max / 4) * 4 }
        return max(0, min(part.bytesMax - part.bytes, share.map { $0.bytesMax - $0.bytes } ?? .max) + bytes)
    }

    /// Whether less than half of its usual room is left.
    public var isShort: Bool {
        guard let part else { return false }
        return room(mayExceed: false) < min(part.bytesMax, share?.bytesMax ?? .max) / 2
    }

    /// Counts `wanted` bytes where there is room for what is missing to them; else nothing changes.
    ///
    /// One charge of a part at a time may have more than there is room for: the largest body of all must get in.
    public mutating func grow(to wanted: Int) -> Grant {
        guard let part, wanted > bytes else { return .granted }
        if exceeds {
            set(to: wanted)
            return .granted
        }
        let missing = wanted - bytes
        var grant = Grant.granted
        if let share, share.used.add(missing, ordering: .relaxed).newValue > share.bytesMax { grant = .shareIsFull }
        if part.used.add(missing, ordering: .relaxed).newValue > part.bytesMax, grant == .granted { grant = .partIsFull }
        bytes = wanted
        if grant == .granted { return .granted }
        if part.isExceeded.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged {
            exceeds = true
            return .granted
        }
        set(to: wanted - missing)
        part.refused.add(1, ordering: .relaxed)
        return grant
    }

    /// Counts `wanted` bytes that are there already, whether or not there is room.
    public mutating func set(to wanted: Int) {
        guard let part, wanted != bytes else { return }
        part.used.add(wanted - bytes, ordering: .relaxed)
        share?.used.add(wanted - bytes, ordering: .relaxed)
        bytes = wanted
        if exceeds, wanted == 0 {
            exceeds = false
            part.isExceeded.store(false, ordering: .releasing)
        }
    }
}

/// A reference-counted charge: it counts as long as a reference exists.
public final class MemoryHold {
    private var charge: MemoryCharge

    /// Counts `bytes` that are there already.
    public init(_ part: MemoryPart, _ share: MemoryShare?, bytes: Int) {
        charge = MemoryCharge(part, share)
        charge.set(to: bytes)
    }

    /// How much is counted.
    public var bytes: Int { charge.bytes }

    /// As ``MemoryCharge/grow(to:)``.
    public func grow(to wanted: Int) -> MemoryCharge.Grant { charge.grow(to: wanted) }

    /// As ``MemoryCharge/set(to:)``.
    public func set(to wanted: Int) { charge.set(to: wanted) }
}
