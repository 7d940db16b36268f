import CLibuv
import Glibc
import Synchronization

/// The memory that a host holds for clients and plugins: incoming requests, unread answers, calls of services.
///
/// Each purpose has its own part, so that one purpose cannot exhaust the others. Each client or plugin has a share of a part. Shared by all
/// threads. Small amounts, and data that the kernel takes at once, are not counted.
public final class MemoryBudget: Sendable {
    /// Data that clients send: bodies, and calls that wait for an instance. Half of the budget.
    public let requests: MemoryPart
    /// Answers that clients have not read yet. A quarter.
    public let answers: MemoryPart
    /// Payloads between plugins and services. A quarter.
    public let services: MemoryPart
    /// The share of one client in requests and in answers.
    private let clientBytesMax: Int
    /// The share of one plugin in services.
    private let pluginBytesMax: Int
    private let shares = Mutex<[String: WeakShare]>([:])

    private struct WeakShare {
        weak var share: MemoryShare?
    }

    /// - Parameter bytesMax: the whole budget.
    public init(bytesMax: Int) {
        requests = MemoryPart("requests", bytesMax / 2)
        answers = MemoryPart("answers", bytesMax / 4)
        services = MemoryPart("services", bytesMax / 4)
        clientBytesMax = bytesMax / 4
        pluginBytesMax = bytesMax / 8
    }

    /// Every part, for the metrics.
    public var parts: [MemoryPart] { [requests, answers, services] }

    /// The share of a client, common to all of its connections.
    ///
    /// - Parameter client: as ``NetworkAddress/customer``.
    public func share(ofClient client: NetworkAddress) -> MemoryShare { share("client \(client.bits)", clientBytesMax) }

    /// The share of a plugin, common to all of its instances.
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
        // Another share of this name may exist by now. Releasing the last reference runs this again, so do not release it under the lock.
        _ = shares.withLock { shares in
            let other = shares[key]?.share
            if other == nil { shares[key] = nil }
            return other
        }
    }

    /// The default budget: an eighth of ``availableBytes``, between 64 and 512 MiB.
    public static var standardBytes: Int { min(max(availableBytes / 8, 64 << 20), 512 << 20) }

    /// The memory of the machine, or of the process's control group if that is less.
    public static var availableBytes: Int {
        let limit = uv_get_constrained_memory()
        let machine = uv_get_total_memory()
        return Int(clamping: limit > 0 && limit < machine ? limit : machine)
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
    /// Whether one charge exceeds the part or its share.
    fileprivate let isExceeded = Atomic(false)

    fileprivate init(_ name: String, _ bytesMax: Int) {
        self.name = name
        self.bytesMax = bytesMax
    }

    /// Bytes held.
    public var bytes: Int { used.load(ordering: .relaxed) }
    /// Number of refused charges.
    public var refusals: Int { refused.load(ordering: .relaxed) }
    /// Whether the part is full.
    public var isFull: Bool { bytes >= bytesMax }
    /// Whether three quarters are used. Slow clients get shorter deadlines then.
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

    /// Bytes held.
    public var bytes: Int { used.load(ordering: .relaxed) }
    /// Whether the share is full.
    public var isFull: Bool { bytes >= bytesMax }
}

/// Counts held bytes in a part of the budget and in a share, until it is destroyed.
///
/// Only its owner changes it; any thread may destroy it.
public struct MemoryCharge: ~Copyable {
    /// Result of a request for more bytes.
    public enum Grant: Sendable {
        case granted
        /// The client or plugin has used up its share.
        case shareIsFull
        /// The part is full.
        case partIsFull
    }

    private let part: MemoryPart?
    private let share: MemoryShare?
    /// Bytes counted.
    public private(set) var bytes = 0
    /// Whether this charge is the one that may exceed the part.
    private var exceeds = false

    /// A charge that counts nothing.
    public init() {
        part = nil
        share = nil
    }

    /// A charge of 0 bytes.
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

    /// Whether it belongs to a part.
    public var isBound: Bool { part != nil }

    /// The most bytes that the charge may have now; up to four times the part for the charge that may exceed it.
    ///
    /// - Parameter mayExceed: whether to apply for being that charge.
    public func room(mayExceed: Bool) -> Int {
        guard let part else { return .max }
        if mayExceed, exceeds || !part.isExceeded.load(ordering: .relaxed) { return min(part.bytesMax, .max / 4) * 4 }
        return max(0, min(part.bytesMax - part.bytes, share.map { $0.bytesMax - $0.bytes } ?? .max) + bytes)
    }

    /// Whether less than half of its usual capacity is left.
    public var isShort: Bool {
        guard let part else { return false }
        return room(mayExceed: false) < min(part.bytesMax, share?.bytesMax ?? .max) / 2
    }

    /// Raises the charge to `wanted` bytes if they fit; otherwise changes nothing.
    ///
    /// One charge of a part at a time may exceed the limits, so that the largest allowed body can be received.
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

    /// Sets the charge to `wanted` bytes that exist already, whether or not they fit.
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

    /// Counts `bytes` that exist already.
    public init(_ part: MemoryPart, _ share: MemoryShare?, bytes: Int) {
        charge = MemoryCharge(part, share)
        charge.set(to: bytes)
    }

    /// Bytes counted.
    public var bytes: Int { charge.bytes }

    /// As ``MemoryCharge/grow(to:)``.
    public func grow(to wanted: Int) -> MemoryCharge.Grant { charge.grow(to: wanted) }

    /// As ``MemoryCharge/set(to:)``.
    public func set(to wanted: Int) { charge.set(to: wanted) }
}
