import FuzzSupport
import HearthJSON
import Testing

@testable import Messaging

/// The corpus of `Tests/Fuzz/Messaging`, and texts made of it by chance: whatever a sender writes, it is refused with places that it
/// names, or it is a message whose stored form is read back as the same.
///
/// A failure names its seed: `HEARTH_FUZZ_SEED=<seed> swift test --filter MessagingTests.FuzzTests` runs it again.
@Suite struct FuzzTests {
    private static let messageWords = [
        "{", "}", "[", "]", ",", ":", "\"", "null", "true", "-1", "1e9", "\\ud800", "\"token\":", "\"topic\":", "\"condition\":", "\"data\":{",
        "\"android\":{", "\"apns\":{\"payload\":{\"aps\":{", "\"ttl\":\"1s\"", "\"color\":\"#000000\"", "\"collapseKey\":", "\"collapse_key\":",
    ]
    private static let conditionWords = ["'a' in topics", "&&", "||", "!", "(", ")", "'", " in ", "topics", "'b'", " ", "\t"]

    @Test func messages() throws {
        let run = FuzzRun(try FuzzCorpus.load("Messaging/corpus/messages"), words: Self.messageWords, rounds: 3000)
        #expect(run.complaint(Self.complaint) == nil)
    }

    private static func complaint(_ text: [UInt8]) -> String? {
        let checked: CheckedSend
        do throws(MessagingError) { checked = try MessageParser().parse(text.span) } catch {
            if error.message.isEmpty { return "refused without a reason" }
            let isPlaced = error.violations.allSatisfy { $0.field.isEmpty || $0.field.hasPrefix("message") || $0.field == "validate_only" }
            return isPlaced ? nil : "refused for a place that is none: \(error.violations)"
        }
        let message = checked.message
        let body = JSONValue.object(message.fields).serialized()
        guard let again = Message(stored: body.span), again.target == message.target, again.fields == message.fields else {
            return "another message when it is read back"
        }
        do throws(MessagingError) {
            // An accepted message is accepted again: back ends send it on.
            let second = try MessageParser().check(.object(["message": .object(message.fields)]))
            if second.message.fields != message.fields { return "changed by a second reading" }
        } catch {
            return "refused when it is sent on: \(error.message)"
        }
        for platform in DevicePlatform.allCases { _ = frame(message, platform) }
        return nil
    }

    /// Every platform's payload can be made.
    private static func frame(_ message: Message, _ platform: DevicePlatform) -> DeviceFrame {
        let device = Device(
            id: 1, project: "p", fid: "f", token: "t", platform: platform, package: "a", name: "", address: JSONObject(), created: 0, seen: 0,
            isUninstalled: false, overflowed: 0)
        let terms = DeliveryTerms(message, device, collapsesNotifications: true, now: 0)
        let row = PendingRow(
            message: 1, collapseKey: terms.collapseKey, isHighPriority: terms.isHighPriority, ttlSeconds: terms.ttlSeconds, expires: 1)
        return MessageFrame(StoredMessage(id: 1, project: "p", form: .clock, sent: 0, message: message), row, device, sender: "1", now: 0).made
    }

    @Test func conditions() throws {
        let run = FuzzRun(try FuzzCorpus.load("Messaging/corpus/conditions"), words: Self.conditionWords, bytesMax: 2000, rounds: 5000)
        #expect(run.complaint(Self.conditionComplaint) == nil)
    }

    private static func conditionComplaint(_ text: [UInt8]) -> String? {
        let text = String(decoding: text, as: UTF8.self)
        guard let condition = TopicCondition(text) else { return nil }
        if condition.topics.isEmpty || condition.topics.count > TopicCondition.membersMax {
            return "a condition over \(condition.topics.count) topics"
        }
        let isTooLong = text.utf8.count > TopicCondition.bytesMax - 2 || text.contains("((((")
        guard let again = TopicCondition("(\(text))") ?? (isTooLong ? condition : nil) else {
            return "refused in parentheses"
        }
        if again.table != condition.table { return "another condition in parentheses" }
        guard let negated = TopicCondition("!(\(text))") else { return nil }
        return negated.table == ~condition.table ? nil : "not what its negation is not"
    }
}
