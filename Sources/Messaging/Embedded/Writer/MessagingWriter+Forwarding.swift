import EventLoop
import SQLite

/// A message that a forwarder has for a device.
struct ForwardKey: Hashable {
    var device: Int64
    var message: Int64
}

extension MessagingWriter {
    /// Hands what waits for a device to the forwarder for its platform.
    func forwardPending(_ id: Int64, _ store: MessagingStore) {
        do throws(SQLiteError) {
            guard let device = try store.device(id: id), !device.address.isEmpty, let forwarder = forwarders[device.platform] else { return }
            let now = clock.now
            for row in try store.pending(id) where row.expires > now {
                let key = ForwardKey(device: id, message: row.message)
                guard !forwarding.contains(key), let stored = try message(row.message, store) else { continue }
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
