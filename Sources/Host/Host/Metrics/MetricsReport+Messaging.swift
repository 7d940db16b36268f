import Messaging
import Metrics

extension MetricsReport {
    func writeMessaging(_ figures: MessagingFigures, to text: inout MetricsText) {
        text.begin("hearth_messaging_sends_total", .counter, "Sends of push messages by outcome.")
        for outcome in SendFigures.Outcome.allCases { text.sample([("outcome", "\(outcome)")], figures.sends.count(outcome)) }
        let store = figures.store
        text.begin("hearth_messaging_deliveries_total", .counter, "Messages to devices by outcome.")
        for outcome in DeliveryOutcome.allCases where outcome != .pending {
            text.sample([("outcome", outcome.rawValue)], store.count(outcome))
        }
        text.number("hearth_messaging_connected_devices", .gauge, store.connectedDevices, "Connected devices.")
        text.number(
            "hearth_messaging_pending_messages", .gauge, store.pendingMessages,
            "Messages that wait for a device; a message to several devices counts once for each.")
        text.number("hearth_messaging_fan_outs", .gauge, store.fanOuts, "Messages to many devices whose receivers are not all known yet.")
        text.number(
            "hearth_messaging_forwarding", .gauge, store.forwarding,
            "Messages that the push services of browsers and of Apple have not answered yet.")
        text.begin("hearth_messaging_commit_seconds", .histogram, "How long transactions with sends took to become durable.")
        text.sample([], store.commits)
        text.begin("hearth_messaging_commit_sends", .histogram, "Sends per transaction.")
        text.sample([], store.batches)
        writeGoogle(figures.google, to: &text)
    }

    private func writeGoogle(_ google: GoogleFigures, to text: inout MetricsText) {
        text.begin(
            "hearth_messaging_google_calls_total", .counter, "Calls of Firebase Cloud Messaging, by the class of the status; none without an answer.")
        for (index, code) in GoogleFigures.codes.enumerated() where code != "1xx" { text.sample([("code", code)], google.count(code: index)) }
        text.begin("hearth_messaging_google_call_seconds", .histogram, "The durations of such calls, without the time before their turn.")
        text.sample([], google.durations)
        text.number("hearth_messaging_google_retries_total", .counter, google.retries, "Such calls that were repeated.")
        text.number("hearth_messaging_google_waiting", .gauge, google.waiting, "Such calls that wait for their turn.")
    }
}
