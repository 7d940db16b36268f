import DequeModule
import EventLoop
import HearthJSON
import Logging
import SQLite
import Store

/// The data of a new or repeated registration.
public struct Registration: Sendable {
    /// The project's id.
    public var project: String
    /// The platform, which determines the form of messages.
    public var platform: DevicePlatform
    /// The package, bundle or origin of the application.
    public var package: String
    /// The name that the user has given it.
    public var name = ""
    /// The installation id; nil for a new one.
    public var fid: String?
    /// The installation that makes the request, according to its token; nil for a caller who may change every device.
    public var owner: String?
    /// Whether the request was made without a credential of a sender or administrator.
    public var isAnonymous = false
    /// A requested token, for tests.
    public var token: String?
    /// The address for a push service.
    public var address = JSONObject()

    /// A registration of a new installation, unless `fid` is set.
    public init(project: String, platform: DevicePlatform, package: String) {
        self.project = project
        self.platform = platform
        self.package = package
    }
}

extension MessagingWriter {
    typealias Answer<Value> = LoopBound<(Result<Value, MessagingError>) -> Void>

    /// Runs `body` as a part of the current transaction, and answers with its result when that is durable.
    func answer<Value: Sendable>(
        on loop: EventLoop, _ answer: Answer<Value>, _ body: (MessagingStore) throws(SQLiteError) -> Result<Value, MessagingError>
    ) {
        inTurn({ error in loop.post { answer.value(.failure(error)) } }) { store throws(SQLiteError) in
            let result = try body(store)
            afterCommit(on: loop) { failure in answer.value(failure.map { .failure($0) } ?? result) }
        }
    }

    /// Counts an anonymous call. Returns an error if there were too many in this minute.
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

    /// Registers an installation. If it is registered already, it keeps its token and its waiting messages.
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
        // `seen` equals `created` for a new device, until it connects again or a sender names it.
        if known != nil || !registration.isAnonymous { device.seen = max(now, device.created + 1) }
        device.id = try store.put(device)
        if let owner = registration.owner { try store.setOwner(owner, of: fid) }
        return .success(device)
    }

    /// Whether a caller with an installation's tokens may change the device with its id. Devices that senders have registered can be changed by
    /// senders only.
    func mayChange(_ fid: String, owner: String, _ device: Device?, _ store: MessagingStore) throws(SQLiteError) -> Bool {
        if let known = try store.owner(of: fid) { return known == owner }
        return device == nil
    }

    /// Makes room for another device, by deleting the oldest new devices if there are too many.
    ///
    /// - Parameter isNew: whether the other device counts as new itself.
    private func makeRoomForDevice(isNew: Bool, _ store: MessagingStore) throws(SQLiteError) -> Bool {
        let isFull = try store.deviceCount() >= settings.devicesMax
        if !isFull {
            guard isNew, try store.newDeviceCount(upTo: settings.newDevicesMax) >= settings.newDevicesMax else { return true }
        }
        for device in try store.oldestNewDevices(limit: max(1, settings.newDevicesMax / 100)) { try remove(device, store) }
        return try store.deviceCount() < settings.devicesMax
    }

    /// Changes the data of a device. Fails with `unregistered` if it does not exist.
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
    /// - Parameter owner: the installation that makes the request; nil for a caller who may change every device.
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

    /// Deletes an account. Its access tokens become invalid at once.
    ///
    /// - Returns: whether it existed.
    func removeAccount(email: String, project: String, _ store: MessagingStore) throws(SQLiteError) -> Bool {
        guard try store.removeAccount(email: email, project: project) else { return false }
        accounts.remove(email: email)
        return true
    }

    // MARK: Tests

    /// Deletes everything except accounts, and resets the clock.
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
