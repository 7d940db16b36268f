import EventLoop
import SQLite
import Store

/// A message that is being forwarded for a device.
struct ForwardKey: Hashable {
    var device: Int64
    var message: Int64
}

/// The messages that are being forwarded, in the order of ``ForwardSchedule``. Only durable messages are forwarded.
struct Forwarding {
    var schedule = ForwardSchedule()
    /// Unanswered attempts, each with its own number.
    var underWay: [ForwardKey: UInt64] = [:]
    var lastAttempt: UInt64 = 0
    /// The last device whose waiting messages were scheduled after the store was opened; nil when all are.
    var lookedAt: Int64? = 0
    /// Whether the timer is running.
    var isTicking = false

    func count(of device: Int64) -> Int { underWay.keys.count { $0.device == device } }
}

extension MessagingWriter {
    /// The most devices to handle in a turn of the loop.
    private static let devicesInTurn = 64
    /// The most concurrent messages of a device.
    private static let perDeviceMax = 4
    /// A service that answers later than this gets fewer requests.
    private static let goodMilliseconds: UInt64 = 2000
    private static let tickMilliseconds: UInt64 = 500

    /// Schedules messages that were waiting when the store was opened, for a few devices in a turn.
    func goOnForwarding() {
        guard let lookedAt = forwarding.lookedAt, let store = content, !forwarders.isEmpty else { return }
        do throws(SQLiteError) {
            let devices = try store.devicesWithPending(after: lookedAt, limit: Self.devicesInTurn)
            forwarding.lookedAt = devices.last
            for device in devices { try schedule(device, store) }
            handOn()
            guard !devices.isEmpty else { return }
            loop.post { [writer = LoopBound(self, loop: loop)] in writer.value.goOnForwarding() }
        } catch {
            cannotRead("waiting messages", error)
        }
    }

    /// Schedules a device with waiting messages. ``handOn()`` sends them.
    func schedule(_ id: Int64, _ store: MessagingStore) throws(SQLiteError) {
        guard let device = try store.device(id: id), !device.address.isEmpty, let forwarder = forwarders[device.platform] else {
            return forwarding.schedule.didSettle(id)
        }
        let service = ForwardSchedule.Service(platform: device.platform, name: forwarder.service(of: device.address))
        forwarding.schedule.add(id, service, now: loop.nowMilliseconds)
    }

    /// Starts the requests that the schedule allows.
    func handOn() {
        // The messages of this turn are not durable yet. The commit calls this function again.
        guard !isInTransaction, let store = content else { return }
        defer { tickLater() }
        do throws(SQLiteError) {
            for _ in 0..<Self.devicesInTurn {
                guard let (device, service) = forwarding.schedule.next(now: loop.nowMilliseconds) else { return }
                try handOn(device, service, store)
            }
            loop.post { [writer = LoopBound(self, loop: loop)] in writer.value.handOn() }
        } catch {
            cannotRead("waiting messages", error)
        }
    }

    private func handOn(_ id: Int64, _ service: ForwardSchedule.Service, _ store: MessagingStore) throws(SQLiteError) {
        guard let device = try store.device(id: id), let forwarder = forwarders[device.platform] else {
            return forwarding.schedule.didSettle(id)
        }
        let (now, count) = (clock.now, forwarding.count(of: id))
        let rows = try store.pending(id).filter { $0.expires > now && forwarding.underWay[ForwardKey(device: id, message: $0.message)] == nil }
        if rows.isEmpty, count == 0 { forwarding.schedule.didSettle(id) }
        // Only one attempt at a time is made for a device whose last message was not accepted.
        guard count < (forwarding.schedule.isFailing(id) ? 1 : Self.perDeviceMax) else { return }
        for (index, row) in rows.enumerated() {
            guard let stored = try message(row.message, store) else { continue }
            forward(stored, row, device, service, forwarder)
            if index + 1 < rows.count { forwarding.schedule.add(id, service, now: loop.nowMilliseconds) }
            return
        }
    }

    private func forward(
        _ stored: StoredMessage, _ row: PendingRow, _ device: Device, _ service: ForwardSchedule.Service, _ forwarder: any PushForwarder
    ) {
        let key = ForwardKey(device: device.id, message: row.message)
        forwarding.lastAttempt += 1
        let (attempt, begun) = (forwarding.lastAttempt, loop.nowMilliseconds)
        forwarding.underWay[key] = attempt
        let ticket = forwarding.schedule.begin(service)
        let sender = number(of: stored.project)
        let push = ForwardedPush(
            address: device.address, message: stored.message, messageID: stored.name, fid: device.fid, sender: sender,
            from: MessageFrame.from(stored.message, sender: sender), expires: row.expires)
        forwarder.forward(push, on: loop) { [unowned self] outcome in
            // If the store was closed meanwhile, all of its messages were scheduled again.
            guard forwarding.underWay[key] == attempt else { return }
            forwarding.underWay[key] = nil
            let isSoon = loop.nowMilliseconds - begun <= Self.goodMilliseconds
            forwarding.schedule.end(ticket, outcome.ofService(isSoon: isSoon), now: loop.nowMilliseconds)
            didForward(key, row, outcome)
        }
    }

    private func didForward(_ key: ForwardKey, _ row: PendingRow, _ outcome: ForwardOutcome) {
        // If the outcome cannot be stored, the message is sent again.
        let postpone = { [self] (_: MessagingError) in _ = forwarding.schedule.rest(key.device, asked: nil, now: loop.nowMilliseconds) }
        inTurn(postpone) { store throws(SQLiteError) in
            touched.insert(key.device)
            guard let device = try store.device(id: key.device) else { return }
            let now = clock.now
            switch outcome {
            case .delivered:
                try settle(key.message, device, .delivered, store, now)
                // The acceptance counts as a contact of the device.
                if device.isNew || now - device.seen > 3_600_000 { try store.setSeen(device.id, now) }
            case .expired: try settle(key.message, device, .expired, store, now)
            case .failed(let reason): try settle(key.message, device, .forwardFailed, detail: reason, store, now)
            case .unregistered: try remove(device, store)
            case .later(let asked, _):
                let wait = forwarding.schedule.rest(device.id, asked: asked, now: loop.nowMilliseconds)
                if now + Int64(wait) >= row.expires { try settle(key.message, device, .expired, store, now) }
                return
            }
            forwarding.schedule.didSettle(key.device)
        }
    }

    /// Schedules devices whose back-off has ended, and starts requests.
    func forwardTick() {
        forwarding.isTicking = false
        guard let store = content else { return }
        do throws(SQLiteError) {
            let rested = forwarding.schedule.rested(now: loop.nowMilliseconds, limit: Self.devicesInTurn)
            for device in rested { try schedule(device, store) }
            // There may be more such devices, for example after an outage of their service.
            if rested.count == Self.devicesInTurn { loop.post { [writer = LoopBound(self, loop: loop)] in writer.value.forwardTick() } }
        } catch {
            cannotRead("waiting messages", error)
        }
        handOn()
        tickLater()
    }

    /// Starts the timer unless it is running: restarting would delay it repeatedly.
    private func tickLater() {
        guard forwarding.schedule.needsTimer, !forwarding.isTicking else { return }
        forwarding.isTicking = true
        forwardTimer.start(afterMilliseconds: Self.tickMilliseconds)
    }
}

extension ForwardOutcome {
    /// The outcome for the state of the push service.
    fileprivate func ofService(isSoon: Bool) -> ForwardSchedule.Outcome {
        switch self {
        case .later(_, wasReached: false): .failed
        case .later: .struggled
        case .delivered, .unregistered, .failed, .expired: isSoon ? .answered : .struggled
        }
    }
}
