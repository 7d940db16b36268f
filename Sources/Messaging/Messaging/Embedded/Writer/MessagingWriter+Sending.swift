import DequeModule
import EventLoop
import HearthJSON
import SQLite
import Store

extension MessagingWriter {
    typealias SendAnswer = LoopBound<(Result<String, MessagingError>) -> Void>

    /// Accepts a message as a part of the current transaction.
    func send(_ request: SendRequest, on loop: EventLoop, _ answer: SendAnswer) {
        inTurn({ error in loop.post { answer.value(.failure(error)) } }) { store throws(SQLiteError) in
            let result = try accept(request, store)
            afterCommit(on: loop) { failure in answer.value(failure.map { .failure($0) } ?? result) }
        }
    }

    private func accept(_ request: SendRequest, _ store: MessagingStore) throws(SQLiteError) -> Result<String, MessagingError> {
        if let fault { return .failure(fault) }
        let now = clock.now
        if let key = request.idempotencyKey, !request.isValidateOnly {
            let since = now - Self.idempotencyMilliseconds
            if let name = try store.name(forKey: "\(request.project)/\(key)", since: since) { return .success(name) }
        }
        var target: Device?
        switch request.message.target {
        case .token(let token): target = try store.device(token: token)
        case .fid(let fid): target = try store.device(fid: fid)
        case .topic, .condition: break
        }
        if let refusal = try refusal(request, target, store, now) { return .failure(refusal) }
        if let target { try store.confirm(target) }
        let form = request.isValidateOnly ? .clock : target.map { MessageID.Form($0.platform) } ?? .clock
        let stored = StoredMessage(id: nextID(), project: request.project, form: form, sent: now, message: request.message)
        let name = "projects/\(request.project)/messages/\(stored.name)"
        guard !request.isValidateOnly else { return .success(name) }
        store.figures.addSend()
        if let key = request.idempotencyKey { try store.keep(name, forKey: "\(request.project)/\(key)", now: now) }
        if let target {
            let body = JSONValue.object(request.message.fields).serialized()
            try store.add(stored, body: body, remaining: try place(stored, target, store, now: now))
            if links[target.id] != nil { fresh[stored.id] = stored }
        } else {
            try beginFanOut(stored, store)
        }
        return .success(name)
    }

    static let idempotencyMilliseconds: Int64 = 600_000

    /// The reason for refusing a message that depends on its target; nil if there is none (spec messaging 2.3, steps 8 to 10).
    private func refusal(
        _ request: SendRequest, _ target: Device?, _ store: MessagingStore, _ now: Int64
    ) throws(SQLiteError) -> MessagingError? {
        switch request.message.target {
        case .topic, .condition: break
        case .fid, .token:
            guard let target, try isRegistered(target, store, now) else { return .unregistered }
            guard target.project == request.project else { return .senderMismatch }
            do throws(MessagingError) {
                try PayloadSize(request.message).check(.device(target.platform), limit: parser.payloadBytesMax)
            } catch {
                return error
            }
            guard Self.fits(request.message, target) else { return .otherPackage }
        }
        guard !request.isValidateOnly else { return nil }
        return overQuota(request.project, target, now)
    }

    /// Whether a device is registered. Ends its registration if it had no contact for too long.
    private func isRegistered(_ device: Device, _ store: MessagingStore, _ now: Int64) throws(SQLiteError) -> Bool {
        let isExpired = links[device.id] == nil && now - device.seen >= Int64(settings.tokenExpiryDays) * 86_400_000
        guard isExpired || device.isUninstalled && settings.findsUninstalledAtOnce else { return true }
        try remove(device, store)
        return false
    }

    private func overQuota(_ project: String, _ target: Device?, _ now: Int64) -> MessagingError? {
        let quotas = settings.quotas
        if let seconds = rates.countProject(project, limit: quotas.projectPerMinute, now: now) {
            return .projectQuota(number: number(of: project), retryAfterSeconds: seconds)
        }
        if let target {
            let seconds = rates.countDevice(target.id, perMinute: quotas.devicePerMinute, perHour: quotas.devicePerHour, now: now)
            if let seconds { return .deviceQuota(subject: target.fid, retryAfterSeconds: seconds) }
        } else if fanOuts.count >= quotas.fanOuts, quotas.fanOuts > 0 {
            return .topicQuota(subject: project, retryAfterSeconds: 60)
        }
        return nil
    }

    /// Whether a message is for the application of a device.
    static func fits(_ message: Message, _ device: Device) -> Bool {
        guard device.platform == .android, let package = message.android.restrictedPackageName else { return true }
        return package == device.package
    }

    // MARK: One device

    /// Stores, sends or drops a message, depending on the state of the device (spec messaging 6.3).
    ///
    /// - Returns: 1 if the message waits for the device now, otherwise 0.
    func place(_ stored: StoredMessage, _ device: Device, _ store: MessagingStore, now: Int64) throws(SQLiteError) -> Int {
        if device.isUninstalled {
            try store.note(.uninstalled, stored.id, device: device.id, fid: device.fid, now: now)
            try remove(device, store)
            return 0
        }
        let link = links[device.id]
        let isInactive = settings.inactiveAfterDays > 0 && now - device.seen > Int64(settings.inactiveAfterDays) * 86_400_000
        if isInactive, link == nil, device.address.isEmpty {
            try store.setOverflowed(device.id, now)
            try store.note(.inactive, stored.id, device: device.id, fid: device.fid, now: now)
            return 0
        }
        let terms = DeliveryTerms(stored.message, device, collapsesNotifications: settings.collapsesNotifications, now: now)
        guard terms.ttlSeconds > 0 || !device.address.isEmpty else {
            try placeNowOrNever(stored, device, terms, link, store, now)
            return 0
        }
        guard try makeRoom(for: stored, terms, device, link, store, now) else { return 0 }
        // Allows for one request to the push service.
        let milliseconds = max(Int64(terms.ttlSeconds) * 1000, device.address.isEmpty ? 0 : 10_000)
        let row = PendingRow(
            message: stored.id, collapseKey: terms.collapseKey, isHighPriority: terms.isHighPriority, ttlSeconds: terms.ttlSeconds,
            expires: now + milliseconds)
        try store.add(row, device: device.id)
        if link != nil || !device.address.isEmpty { touched.insert(device.id) }
        return 1
    }

    private func placeNowOrNever(
        _ stored: StoredMessage, _ device: Device, _ terms: DeliveryTerms, _ link: DeviceLink?, _ store: MessagingStore, _ now: Int64
    ) throws(SQLiteError) {
        guard let link, link.takes(isHighPriority: terms.isHighPriority), link.frames.count < settings.unacknowledgedMax else {
            return try store.note(.droppedTTL0, stored.id, device: device.id, fid: device.fid, now: now)
        }
        link.frames.append(frame(stored, terms, device))
        touched.insert(device.id)
        try store.note(.delivered, stored.id, device: device.id, fid: device.fid, now: now)
    }

    /// Removes messages that a new one replaces, or all of them if too many are waiting (spec messaging 6.4 and 6.5).
    ///
    /// - Returns: whether the new message may wait.
    private func makeRoom(
        for stored: StoredMessage, _ terms: DeliveryTerms, _ device: Device, _ link: DeviceLink?, _ store: MessagingStore, _ now: Int64
    ) throws(SQLiteError) -> Bool {
        if let key = terms.collapseKey {
            let rows = try store.pending(device.id, onlyCollapsible: true)
            let replaced = rows.filter { $0.collapseKey == key }
            for row in replaced { try settle(row.message, device, .collapsedBy, detail: stored.name, store, now) }
            guard replaced.isEmpty else { return true }
            let others = rows.filter { $0.expires > now }
            for row in others.prefix(max(0, others.count + 1 - settings.collapseKeysMax)) {
                try settle(row.message, device, .collapsedBy, detail: stored.name, store, now)
            }
            return true
        }
        // A fast path: most devices have few waiting messages, which need not be read.
        guard try store.plainCount(device.id, at: now, upTo: settings.pendingMax) >= settings.pendingMax else { return true }
        let rows = try store.pending(device.id)
        // Messages that were sent to a connected device do not count as waiting.
        let waiting = rows.count { $0.collapseKey == nil && $0.expires > now && link?.unacknowledged.contains($0.message) != true }
        guard waiting >= settings.pendingMax else { return true }
        for row in rows { try settle(row.message, device, row.expires > now ? .overflow : .expired, store, now) }
        try store.note(.overflow, stored.id, device: device.id, fid: device.fid, now: now)
        try store.setOverflowed(device.id, now)
        if let link {
            link.frames.append(Self.deletedMessages)
            touched.insert(device.id)
        }
        return false
    }

    /// Removes a message that waits for a device, and records the outcome.
    func settle(
        _ message: Int64, _ device: Device, _ outcome: DeliveryOutcome, detail: String = "", _ store: MessagingStore, _ now: Int64
    ) throws(SQLiteError) {
        links[device.id]?.unacknowledged.remove(message)
        guard try store.removePending(device.id, message) else { return }
        try store.addRemaining(message, -1)
        try store.note(outcome, message, device: device.id, fid: device.fid, detail: detail, now: now)
    }

    /// Deletes a device and its waiting messages.
    func remove(_ device: Device, _ store: MessagingStore) throws(SQLiteError) {
        let now = clock.now
        for row in try store.pending(device.id) { try settle(row.message, device, .unregistered, store, now) }
        try store.remove(device)
        try store.setGone(device.fid, now)
        if let link = links.removeValue(forKey: device.id) { link.tell(.ended(.unregistered)) }
    }
}

extension MessagingError {
    static func projectQuota(number: String, retryAfterSeconds: Int) -> MessagingError {
        MessagingError(
            .quotaExceeded(.project(number: number)),
            "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute' of service 'fcm.googleapis.com' for consumer "
                + "'project_number:\(number)'.",
            retryAfterSeconds: retryAfterSeconds)
    }

    static func deviceQuota(subject: String, retryAfterSeconds: Int) -> MessagingError {
        MessagingError(.quotaExceeded(.device(subject: subject)), "Device message quota exceeded.", retryAfterSeconds: retryAfterSeconds)
    }

    static func topicQuota(subject: String, retryAfterSeconds: Int) -> MessagingError {
        MessagingError(.quotaExceeded(.topic(subject: subject)), "Topic quota exceeded.", retryAfterSeconds: retryAfterSeconds)
    }
}
