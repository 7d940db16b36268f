import EventLoop
import HearthJSON
import SQLite
import Store

extension MessagingWriter {
    /// Connects a device. Calls `handler` on `loop` until the connection ends: first with `ready`, last with the reason for the end.
    ///
    /// - Parameter last: the newest message that the device has received. It is not sent again.
    func connect(
        token: String, state: DeviceState, last: String?, on loop: EventLoop, _ handler: LoopBound<(LinkNews) -> Void>,
        opened: @escaping @Sendable (_ link: UInt64, _ device: Int64) -> Void
    ) {
        func end(_ reason: LinkEnd) { loop.post { handler.value(.ended(reason)) } }
        inTurn({ _ in end(.failed) }) { store throws(SQLiteError) in
            let now = clock.now
            guard let device = try store.device(token: token), !device.isUninstalled else { return end(.unknownToken) }
            guard now - device.seen < Int64(settings.tokenExpiryDays) * 86_400_000 else {
                try remove(device, store)
                return end(.unknownToken)
            }
            guard links.count < settings.connectionsMax || links[device.id] != nil else { return end(.tooMany) }
            try store.setSeen(device.id, now)
            try expire(device, store, now)
            links.removeValue(forKey: device.id)?.tell(.ended(.replaced))
            lastLink += 1
            let link = DeviceLink(id: lastLink, device: device, loop: loop, handler: handler, state: state)
            links[device.id] = link
            connecting.append(link)
            if let last = last.flatMap({ MessageID.number($0) }) { link.unacknowledged.insert(last) }
            let ready: JSONValue = ["type": "ready", "fid": .string(device.fid), "pending": JSONValue(try store.pendingCount(device.id))]
            link.frames.append(DeviceFrame(kind: .ready, json: ready.serialized()))
            if device.overflowed > 0 {
                // Losses that are more than four weeks old are not reported.
                if now - device.overflowed < Int64(AndroidOptions.ttlSecondsMax) * 1000 {
                    link.frames.append(Self.deletedMessages)
                } else {
                    try store.setOverflowed(device.id, 0)
                }
            }
            touched.insert(device.id)
            let id = link.id
            loop.post { opened(id, device.id) }
        }
    }

    /// Ends a connection. Messages that were sent and not acknowledged wait again.
    ///
    /// Does not use the store, which may be closed, or have another token for the device by now.
    func disconnect(_ id: UInt64, device: Int64) {
        guard links[device]?.id == id else { return }
        links.removeValue(forKey: device)
    }

    /// Sets the state of a device.
    func setState(_ state: DeviceState, token: String) {
        guard let store = content, let device = try? store.device(token: token), let link = links[device.id] else { return }
        link.state = state
        pump(link, store)
    }

    /// Removes messages that a device has received.
    func acknowledge(_ ids: [String], token: String, on loop: EventLoop, _ answer: LoopBound<(MessagingError?) -> Void>) {
        inTurn({ error in loop.post { answer.value(error) } }) { store throws(SQLiteError) in
            guard let device = try store.device(token: token) else {
                return afterCommit(on: loop) { failure in answer.value(failure ?? .unregistered) }
            }
            let now = clock.now
            for text in ids {
                if text == Self.deletedMessagesID {
                    try store.setOverflowed(device.id, 0)
                } else if let id = MessageID.number(text) {
                    try settle(id, device, .delivered, store, now)
                }
            }
            // The time of contact is updated only once an hour.
            if now - device.seen > 3_600_000 { try store.setSeen(device.id, now) }
            if links[device.id] != nil { touched.insert(device.id) }
            afterCommit(on: loop) { failure in answer.value(failure) }
        }
    }

    /// Removes the expired messages of a device.
    private func expire(_ device: Device, _ store: MessagingStore, _ now: Int64) throws(SQLiteError) {
        for row in try store.pending(device.id) where row.expires <= now { try settle(row.message, device, .expired, store, now) }
    }

    // MARK: Sending to devices

    /// Sends connected devices the messages of the transaction that has just become durable.
    func pumpTouched(_ store: MessagingStore) {
        defer { fresh = [:] }
        let devices = touched
        touched = []
        for device in devices {
            if let link = links[device] { pump(link, store) } else if !forwarders.isEmpty { scheduleTouched(device, store) }
        }
        if !forwarders.isEmpty { handOn() }
    }

    private func scheduleTouched(_ device: Int64, _ store: MessagingStore) {
        do throws(SQLiteError) { try schedule(device, store) } catch { cannotRead("waiting messages", error) }
    }

    /// Sends waiting messages to a connected device, as long as it acknowledges them.
    private func pump(_ link: DeviceLink, _ store: MessagingStore) {
        var frames = link.frames
        link.frames = []
        do throws(SQLiteError) {
            let now = clock.now
            for row in try store.pending(link.device.id) {
                guard link.unacknowledged.count < settings.unacknowledgedMax else { break }
                guard row.expires > now, link.takes(isHighPriority: row.isHighPriority), !link.unacknowledged.contains(row.message),
                    let stored = try message(row.message, store)
                else { continue }
                link.unacknowledged.insert(row.message)
                frames.append(frame(stored, row, link.device))
            }
        } catch {
            cannotRead("waiting messages", error)
        }
        if !frames.isEmpty { link.tell(.frames(frames)) }
    }

    /// Reads a message. The last one is cached, because a message to many devices is read for each of them.
    func message(_ id: Int64, _ store: MessagingStore) throws(SQLiteError) -> StoredMessage? {
        if let stored = fresh[id] { return stored }
        if let recent, recent.id == id { return recent }
        recent = try store.message(id)
        return recent
    }

    static let deletedMessagesID = "deleted_messages"
    static let deletedMessages = DeviceFrame(
        kind: .deletedMessages, id: deletedMessagesID,
        json: JSONValue.object(["type": "deleted_messages", "message_id": .string(deletedMessagesID)]).serialized())

    func frame(_ stored: StoredMessage, _ terms: DeliveryTerms, _ device: Device) -> DeviceFrame {
        let row = PendingRow(
            message: stored.id, collapseKey: terms.collapseKey, isHighPriority: terms.isHighPriority, ttlSeconds: terms.ttlSeconds, expires: 0)
        return frame(stored, row, device)
    }

    private func frame(_ stored: StoredMessage, _ row: PendingRow, _ device: Device) -> DeviceFrame {
        MessageFrame(stored, row, device, sender: number(of: stored.project), now: clock.now).made
    }
}
