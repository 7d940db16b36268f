import Messaging
import Metrics

extension MetricsReport {
    func writeMessaging(_ figures: MessagingFigures, to set: inout MetricSet) {
        set.begin("hearth_messaging_sends_total", .counter, "Sends of push messages by outcome.")
        for outcome in SendFigures.Outcome.allCases { set.sample([("outcome", "\(outcome)")], figures.sends.count(outcome)) }
        let store = figures.store
        set.begin("hearth_messaging_deliveries_total", .counter, "Messages to devices by outcome.")
        for outcome in DeliveryOutcome.allCases where outcome != .pending {
            set.sample([("outcome", outcome.rawValue)], store.count(outcome))
        }
        set.number("hearth_messaging_connected_devices", .gauge, store.connectedDevices, "Connected devices.")
        set.number(
            "hearth_messaging_pending_messages", .gauge, store.pendingMessages,
            "Messages that wait for a device; a message to several devices counts once for each.")
        set.number("hearth_messaging_fan_outs", .gauge, store.fanOuts, "Messages to many devices whose receivers are not all known yet.")
        set.number(
            "hearth_messaging_forwarding", .gauge, store.forwarding,
            "Messages that the push services of browsers and of Apple have not answered yet.")
        set.begin("hearth_messaging_commit_seconds", .histogram, "How long transactions with sends took to become durable.")
        set.sample([], store.commits)
        set.begin("hearth_messaging_commit_sends", .histogram, "Sends per transaction.")
        set.sample([], store.batches)
        writeGoogle(figures.google, to: &set)
    }

    private func writeGoogle(_ google: GoogleFigures, to set: inout MetricSet) {
        set.begin(
            "hearth_messaging_google_calls_total", .counter, "Calls of Firebase Cloud Messaging, by the class of the status; none without an answer.")
        for (index, code) in GoogleFigures.codes.enumerated() where code != "1xx" { set.sample([("code", code)], google.count(code: index)) }
        set.begin("hearth_messaging_google_call_seconds", .histogram, "The durations of such calls, without the time before their turn.")
        set.sample([], google.durations)
        set.number("hearth_messaging_google_retries_total", .counter, google.retries, "Such calls that were repeated.")
        set.number("hearth_messaging_google_waiting", .gauge, google.waiting, "Such calls that wait for their turn.")
    }
}
