import EventLoop
import HearthJSON
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

    // MARK: Devices

    /// Registers an installation. One that is registered keeps its token and what waits for it.
    func register(_ registration: Registration, _ store: MessagingStore) throws(SQLiteError) -> Result<Device, MessagingError> {
        let now = clock.now
        let known: Device? = if let fid = registration.fid { try store.device(fid: fid) } else { nil }
        if let known, known.project != registration.project { return .failure(.senderMismatch) }
        if known == nil, try store.deviceCount() >= settings.devicesMax {
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
        device.id = try store.put(device)
        return .success(device)
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
    func unregister(_ registration: String, project: String, _ store: MessagingStore) throws(SQLiteError) -> Result<Bool, MessagingError> {
        guard let device = try store.device(registration: registration), device.project == project else { return .failure(.unregistered) }
        try remove(device, store)
        return .success(true)
    }

    // MARK: Tests

    /// Forgets everything but accounts, and has the clock go right again.
    func reset(_ store: MessagingStore) throws(SQLiteError) {
        for table in ["device", "topic", "subscription", "message", "pending", "fanout", "outcome", "idempotency"] {
            try store.connection.run("DELETE FROM \(table)")
        }
        store.counted = nil
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
