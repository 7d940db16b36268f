import EventLoop
import SQLite

/// A message that a forwarder has for a device.
struct ForwardKey: Hashable {
    var device: Int64
    var message: Int64
}

/// How far the devices have been looked through whose messages wait for a forwarder.
struct ForwardBacklog {
    /// Devices up to this one have been looked at.
    var device: Int64 = 0
    /// Whether more has come for one of them.
    var isIncomplete = false
}

extension MessagingWriter {
    /// Messages that forwarders have at one time; the others stay in the store.
    private static let forwardingMax = 10_000
    /// Devices that are looked at in one turn of the loop.
    private static let devicesInTurn = 64

    /// Hands on what waits, a few devices a turn, for as long as forwarders take it.
    func goOnForwarding() {
        guard let backlog = forwardBacklog, let store, !forwarders.isEmpty, forwarding.count < Self.forwardingMax else { return }
        do throws(SQLiteError) {
            let devices = try store.devicesWithPending(after: backlog.device, limit: Self.devicesInTurn)
            guard let last = devices.last else {
                forwardBacklog = backlog.isIncomplete ? ForwardBacklog() : nil
                return goOnForwarding()
            }
            forwardBacklog?.device = last
            for device in devices { forwardPending(device, store) }
            loop.post { [writer = LoopBound(self, loop: loop)] in writer.value.goOnForwarding() }
        } catch {
            didFail("waiting messages cannot be read", error)
        }
    }

    /// Hands what waits for a device to the forwarder for its platform.
    func forwardPending(_ id: Int64, _ store: MessagingStore) {
        do throws(SQLiteError) {
            guard let device = try store.device(id: id), !device.address.isEmpty, let forwarder = forwarders[device.platform] else { return }
            let now = clock.now
            for row in try store.pending(id) where row.expires > now {
                let key = ForwardKey(device: id, message: row.message)
                guard !forwarding.contains(key), let stored = try message(row.message, store) else { continue }
                guard forwarding.count < Self.forwardingMax else {
                    forwardBacklog = forwardBacklog ?? ForwardBacklog()
                    forwardBacklog?.isIncomplete = true
                    return
                }
                forwarding.insert(key)
                let sender = number(of: stored.project)
                let push = ForwardedPush(
                    address: device.address, message: stored.message, messageID: stored.name, fid: device.fid, sender: sender,
                    from: MessageFrame.from(stored.message, sender: sender), expires: row.expires)
                forwarder.forward(push, on: loop) { [unowned self] outcome in didForward(key, outcome) }
            }
        } catch {
            didFail("waiting messages cannot be read", error)
        }
    }

    private func didForward(_ key: ForwardKey, _ outcome: ForwardOutcome) {
        forwarding.remove(key)
        if forwardBacklog != nil, forwarding.count == Self.forwardingMax / 2 { goOnForwarding() }
        inTransaction({ _ in }) { store throws(SQLiteError) in
            guard let device = try store.device(id: key.device) else { return }
            let now = clock.now
            switch outcome {
            case .delivered: try settle(key.message, device, .delivered, store, now)
            case .expired: try settle(key.message, device, .expired, store, now)
            case .failed(let reason): try settle(key.message, device, .forwardFailed, detail: reason, store, now)
            case .unregistered: try remove(device, store)
            }
        }
    }
}
