import EventDelivery
import EventLoop

/// The events on which functions still work during an upgrade.
extension HostUpgrade {
    /// Tells the new host which events it need not deliver, because their functions still run here.
    func sendRunning(_ events: [RunningEvent]) {
        for message in RunningEvents.messages(events) { channel?.send(message) }
    }

    /// Sends the results of these functions to the new host.
    func sendResults(through channel: MessageChannel) {
        host.delivery.attempts.send { event, result in channel.send(RunningEvents.message(event, result)) }
    }
}
