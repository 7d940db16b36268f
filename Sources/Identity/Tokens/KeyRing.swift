import Crypto
import CryptoExtras
import Files
import Glibc
import HearthJSON
import Synchronization

/// The times of a key ring, in seconds.
public struct RingTimes: Sendable, Equatable {
    /// How long a key signs before the next one does.
    public var signing = 14 * 86_400
    /// How long a key is published before it signs, so that every verifier has it by then.
    public var publishing = 86_400
    /// The longest lifetime of a token.
    public var tokenLifetime: Int
    /// How long verifiers may keep a document of keys (`max-age`).
    public var documentMaxAge = 21_600

    /// Times for tokens that live this long.
    public init(tokenLifetime: Int = 3600) { self.tokenLifetime = tokenLifetime }

    /// How long a key stays published after the last token that it signed.
    var keeping: Int { tokenLifetime + documentMaxAge }
}

/// The failure of a key ring, in one sentence for the log.
public struct KeyRingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One sentence, without key material.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// The keys with which the host signs one kind of token: RSA keys in one file of mode 0600, rotated with overlap.
///
/// The file is read at first use, and made with a first key when there is none. Keys rotate when tokens are signed: a ring that signs nothing
/// needs no new key. A crash during a rotation leaves the old file or the new one. All functions block: opening reads a file, and making a key
/// takes a good part of a second.
public final class KeyRing: Sendable {
    /// The longest file that is read.
    private static let fileBytesMax = 1 << 20

    private let file: String
    private let times: RingTimes
    private let clock: TokenClock
    private let report: @Sendable (String) -> Void
    private let state = Mutex(RingState())

    /// - Parameters:
    ///   - file: the file, in an existing folder.
    ///   - report: gets sentences for the log: rotations, and those that fail.
    public init(
        file: String, times: RingTimes = RingTimes(), clock: TokenClock = .system, report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.file = file
        self.times = times
        self.clock = clock
        self.report = report
    }

    /// Reads the file, or makes it. Called at the start of a host to report a broken file at once.
    public func open() throws(KeyRingError) { _ = try keys() }

    /// Signs a payload, a JSON object, and returns the token (RFC 7515, RS256). Takes about a millisecond.
    public func sign(_ payload: [UInt8]) throws(KeyRingError) -> String {
        let now = clock.now()
        let keys = try state.withLock { state throws(KeyRingError) in
            try load(&state)
            rotate(&state, now: now)
            return state.keys
        }
        guard let key = Self.signer(of: keys, now: now) else { throw KeyRingError("The file \(file) has no key.") }
        return try key.sign(payload)
    }

    /// The public keys as a JSON Web Key Set (RFC 7517).
    public func keySet() throws(KeyRingError) -> [UInt8] {
        JSONValue.object(["keys": .array(try keys().map(\.jwk))]).serialized()
    }

    /// The public keys as a JSON object of key ids and self-signed certificates in PEM.
    public func certificates() throws(KeyRingError) -> [UInt8] {
        var members = JSONObject()
        for key in try keys() { members[key.id] = .string(try key.certificate()) }
        return JSONValue.object(members).serialized()
    }

    /// The key of that id, for the host's own verification. Makes no file.
    func verificationKey(_ id: String) -> Result<VerificationKey, TokenRefusal> {
        let keys = state.withLock { state in
            if state.keys.isEmpty { state.keys = (try? read()) ?? [] }
            return state.keys
        }
        guard let key = keys.first(where: { $0.id == id }) else { return .failure(.keyUnknown) }
        return .success(key.verification)
    }

    // MARK: State

    private struct RingState {
        /// In the order of ``SigningKey/signsFrom``.
        var keys: [SigningKey] = []
        /// When a rotation is tried again after a failure.
        var retryAt = 0
    }

    private func keys() throws(KeyRingError) -> [SigningKey] {
        try state.withLock { state throws(KeyRingError) in
            try load(&state)
            return state.keys
        }
    }

    private func load(_ state: inout RingState) throws(KeyRingError) {
        guard state.keys.isEmpty else { return }
        if let keys = try read() {
            state.keys = keys
            return
        }
        let first = try SigningKey.make(signsFrom: clock.now())
        // If another process makes the file at the same time, both get the same contents.
        let kept: [UInt8]?
        do throws(FileFailure) {
            kept = try DurableFile.kept(file, sizeBytesMax: Self.fileBytesMax, mode: 0o600) { Self.contents([first]) }
        } catch {
            throw KeyRingError("The file \(file) \(error).")
        }
        guard let kept else { throw KeyRingError("The file \(file) is a link to a file that does not exist.") }
        state.keys = try parsed(kept)
    }

    private func read() throws(KeyRingError) -> [SigningKey]? {
        let bytes: [UInt8]?
        do throws(FileFailure) {
            bytes = try WholeFile.readIfAny(file, sizeBytesMax: Self.fileBytesMax)
        } catch {
            throw KeyRingError("The file \(file) \(error).")
        }
        // A file of white space only counts as missing, as for `DurableFile.kept`.
        guard let bytes, bytes.contains(where: { $0 > 32 }) else { return nil }
        return try parsed(bytes)
    }

    // MARK: Rotation

    /// The newest key that may sign. After the clock was set back, none may: then the oldest one signs.
    private static func signer(of keys: [SigningKey], now: Int) -> SigningKey? { keys.last { $0.signsFrom <= now } ?? keys.first }

    /// Makes the next key when it is time, and removes those whose tokens have expired. A failure changes nothing: the old key signs on.
    private func rotate(_ state: inout RingState, now: Int) {
        guard needsRotation(state.keys, now), now >= state.retryAt || now < state.retryAt - 600 else { return }
        state.retryAt = now + 60
        do {
            // Another process of the host may have rotated since.
            var keys = try read() ?? state.keys
            if needsKey(keys, now) { keys.append(try SigningKey.make(signsFrom: now + times.publishing)) }
            keys = remaining(keys, now)
            try DurableFile.replace(file, with: Self.contents(keys), mode: 0o600)
            state.keys = keys
            report("the keys of \(file) were rotated: \(keys.count) are published")
        } catch {
            report("the keys of \(file) could not be rotated: \(error)")
        }
    }

    private func needsRotation(_ keys: [SigningKey], _ now: Int) -> Bool { needsKey(keys, now) || remaining(keys, now).count < keys.count }

    private func needsKey(_ keys: [SigningKey], _ now: Int) -> Bool {
        guard let newest = keys.last else { return true }
        return newest.signsFrom + times.signing - times.publishing <= now
    }

    /// The keys without those that stopped signing, because of a newer one, longer ago than any of their tokens lives.
    private func remaining(_ keys: [SigningKey], _ now: Int) -> [SigningKey] {
        keys.indices.filter { index in index + 1 == keys.count || keys[index + 1].signsFrom + times.keeping > now }.map { keys[$0] }
    }

    // MARK: Contents

    private static func contents(_ keys: [SigningKey]) -> [UInt8] {
        let list = keys.map { key -> JSONValue in ["signsFrom": .int(Int64(key.signsFrom)), "privateKey": .string(key.pem)] }
        return JSONValue.object(["keys": .array(list)]).serialized()
    }

    private func parsed(_ bytes: [UInt8]) throws(KeyRingError) -> [SigningKey] {
        let broken = KeyRingError("The file \(file) is not a ring of keys. Without it a host makes a new one; its old tokens become invalid.")
        guard let list = (try? JSONValue(parsing: bytes, limits: JSONLimits(depthMax: 8)))?["keys"]?.array, (1...64).contains(list.count) else {
            throw broken
        }
        var keys: [SigningKey] = []
        for item in list {
            guard case .int(let start)? = item["signsFrom"], let pem = item["privateKey"]?.string,
                let key = try? SigningKey(pem: pem, signsFrom: Int(start))
            else { throw broken }
            keys.append(key)
        }
        return keys.sorted { $0.signsFrom < $1.signsFrom }
    }
}

extension KeyRing: Equatable {
    public static func == (left: KeyRing, right: KeyRing) -> Bool { left === right }
}
