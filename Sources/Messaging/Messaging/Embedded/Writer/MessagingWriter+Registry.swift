import EventLoop
import HearthJSON
import Logging
import SQLite

/// What is known of an installation that registers, or registers anew.
public struct Registration: Sendable {
    /// Its id; one of the host's projects.
    public var project: String
    /// Decides the form in which messages reach it.
    public var platform: DevicePlatform
    /// Package, bundle or origin of the application.
    public var package: String
    /// What the user calls it.
    public var name = ""
    /// Its installation id; a new one where nil.
    public var fid: String?
    /// Which installation registers it, as its tokens say; nil for a caller who may change every device.
    public var owner: String?
    /// Whether anybody may have asked for it, without a credential that a sender or an administrator has.
    public var isAnonymous = false
    /// A token that is wished for, for tests.
    public var token: String?
    /// Where a push service reaches it.
    public var address = JSONObject()

    /// An installation that is new, unless a `fid` is set.
    public init(project: String, platform: DevicePlatform, package: String) {
        self.project = project
        self.platform = platform
        self.package = package
    }
}

extension MessagingWriter {
    typealias Answer<Value> = LoopBound<(Result<Value, MessagingError>) -> Void>

    /// Does `body` and answers with what it returns when that is durable.
    func answer<Value: Sendable>(
        on loop: EventLoop, _ answer: Answer<Value>, _ body: (MessagingStore) throws(SQLiteError) -> Result<Value, MessagingError>
    ) {
        inTransaction({ error in loop.post { answer.value(.failure(error)) } }) { store throws(SQLiteError) in
            let result = try body(store)
            afterCommit(on: loop) { failure in answer.value(failure.map { .failure($0) } ?? result) }
        }
    }

    /// Counts an anonymous call; the refusal if there were too many in this minute.
    func refusal(ofCallFrom caller: NetworkAddress) -> MessagingError? {
        let quotas = settings.quotas
        let seconds = rates.countCall(
            from: caller, perMinute: quotas.anonymousPerMinute, perAddress: quotas.anonymousPerAddressPerMinute, now: clock.now)
        guard let seconds else { return nil }
        if rates.isFirstRefusalOfMinute() { log.warning("devices register too fast and are refused", metadata: ["address": "\(caller)"]) }
        return MessagingError(
            .quotaExceeded(.project(number: projects.first?.value.number ?? "0")), "Too many registrations from here; try again later.",
            retryAfterSeconds: seconds)
    }

    // MARK: Devices

    /// Registers an installation. One that is registered keeps its token and what waits for it.
    func register(_ registration: Registration, _ store: MessagingStore) throws(SQLiteError) -> Result<Device, MessagingError> {
        let now = clock.now
        let known: Device? = if let fid = registration.fid { try store.device(fid: fid) } else { nil }
        if let owner = registration.owner, let fid = registration.fid, try !mayChange(fid, owner: owner, known, store) {
            return .failure(.invalidCredential)
        }
        if let known, known.project != registration.project { return .failure(.senderMismatch) }
        if known == nil, try !makeRoomForDevice(isNew: registration.isAnonymous, store) {
            return .failure(MessagingError(.quotaExceeded(.project(number: number(of: registration.project))), "Too many devices are registered."))
        }
        if let token = registration.token, let other = try store.device(token: token), other.id != known?.id {
            return .failure(.field("token", "is another device's"))
        }
        let fid = registration.fid ?? RandomText.installationID()
        var device = Device(
            id: known?.id ?? 0, project: registration.project, fid: fid,
            token: registration.token ?? known?.token ?? "\(fid):APA91b\(RandomText.letters(113))", platform: registration.platform,
            package: registration.package, name: registration.name.isEmpty ? known?.name ?? "" : registration.name,
            address: registration.address, created: known?.created ?? now, seen: now, isUninstalled: false, overflowed: known?.overflowed ?? 0)
        // A device that is new has the same time twice, until it comes back or a sender names it.
        if known != nil || !registration.isAnonymous { device.seen = max(now, device.created + 1) }
        device.id = try store.put(device)
        if let owner = registration.owner { try store.setOwner(owner, of: fid) }
        return .success(device)
    }

    /// Whether a caller with an installation's tokens may change what is registered with its id. What senders have registered, no
    /// installation may.
    func mayChange(_ fid: String, owner: String, _ device: Device?, _ store: MessagingStore) throws(SQLiteError) -> Bool {
        if let known = try store.owner(of: fid) { return known == owner }
        return device == nil
    }

    /// Makes room for one more device, where there is none and some have never come back since anybody registered them: the oldest of them go.
    ///
    /// - Parameter isNew: whether it is such a device itself.
    private func makeRoomForDevice(isNew: Bool, _ store: MessagingStore) throws(SQLiteError) -> Bool {
        let isFull = try store.deviceCount() >= settings.devicesMax
        if !isFull {
            guard isNew, try store.newDeviceCount(upTo: settings.newDevicesMax) >= settings.newDevicesMax else { return true }
        }
        for device in try store.oldestNewDevices(limit: max(1, settings.newDevicesMax / 100)) { try remove(device, store) }
        return try store.deviceCount() < settings.devicesMax
    }

    /// Changes what is known of a device; nil where there is none.
    func change(
        _ registration: String, project: String, _ store: MessagingStore, _ body: (inout Device) -> Void
    ) throws(SQLiteError) -> Result<Device, MessagingError> {
        guard var device = try store.device(registration: registration), device.project == project else { return .failure(.unregistered) }
        body(&device)
        _ = try store.put(device)
        return .success(device)
    }

    /// Ends a registration.
    ///
    /// - Parameter owner: which installation asks for it; nil for a caller who may change every device.
    func unregister(
        _ registration: String, project: String, owner: String? = nil, _ store: MessagingStore
    ) throws(SQLiteError) -> Result<Bool, MessagingError> {
        guard let device = try store.device(registration: registration), device.project == project else { return .failure(.unregistered) }
        if let owner, try !mayChange(device.fid, owner: owner, device, store) { return .failure(.invalidCredential) }
        try remove(device, store)
        return .success(true)
    }

    // MARK: Service accounts

    func put(_ account: ServiceAccount, _ store: MessagingStore) throws(SQLiteError) {
        try store.put(account)
        accounts.put(account)
    }

    /// Forgets an account; its access tokens end at once.
    ///
    /// - Returns: whether there was one.
    func removeAccount(email: String, project: String, _ store: MessagingStore) throws(SQLiteError) -> Bool {
        guard try store.removeAccount(email: email, project: project) else { return false }
        accounts.remove(email: email)
        return true
    }

    // MARK: Tests

    /// Forgets everything but accounts, and has the clock go right again.
    func reset(_ store: MessagingStore) throws(SQLiteError) {
        for table in ["device", "installation", "topic", "subscription", "message", "pending", "fanout", "outcome", "idempotency"] {
            try store.connection.run("DELETE FROM \(table)")
        }
        store.forgetCounts()
        for link in links.values { link.tell(.ended(.unregistered)) }
        links = [:]
        fanOuts = []
        recent = nil
        fault = nil
        rates = SendRates()
        clock.reset()
    }
}

/// Random names.
enum RandomText {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// Letters of base64url.
    static func letters(_ count: Int) -> String {
        String(decoding: bytes(count).map { alphabet[Int($0 & 63)] }, as: UTF8.self)
    }

    /// `^[cdef][A-Za-z0-9_-]{21}$`.
    static func installationID() -> String {
        ["c", "d", "e", "f"][Int(bytes(1)[0] & 3)] + letters(21)
    }
}
