import HearthJSON
import Testing

@testable import Messaging

@Suite("Messages")
struct MessageParserTests {
    private func error(_ message: String) -> MessagingError? {
        do throws(MessagingError) {
            _ = try MessageParser().parse(Array("{\"message\": \(message)}".utf8).span)
            return nil
        } catch {
            return error
        }
    }

    @Test("types are checked in the document's order, before rules")
    func order() {
        #expect(error(#"{"topic": "bad topic", "android": {"ttl": 1}}"#)?.violations.map(\.field) == ["message.android.ttl"])
        #expect(error(#"{"x": 1, "android": {"ttl": 1}}"#)?.violations.map(\.field) == ["message"])
        #expect(error(#"{"data": {"from": "x"}, "topic": "bad topic"}"#)?.message == "Topic name contains invalid characters.")
    }

    @Test("all broken rules are told together")
    func together() {
        let fields = error(
            #"{"topic": "a", "data": {"from": "x", "gcm": "y"}, "android": {"ttl": "-1s"}, "fcm_options": {"analytics_label": "a b"}}"#)?
            .violations.map(\.field)
        #expect(fields == ["message.data", "message.data", "message.android.ttl", "message.fcm_options.analytics_label"])
    }

    @Test("both spellings of a field are the same field")
    func spellings() throws {
        let checked = try MessageParser().parse(
            Array(#"{"message": {"topic": "a", "android": {"collapseKey": "k", "directBootOk": true}}, "validateOnly": true}"#.utf8).span)
        #expect(checked.isValidateOnly)
        #expect(checked.message.android.collapseKey == "k")
        #expect(checked.message.fields["android"]?["direct_boot_ok"] == true)
        #expect(error(#"{"topic": "a", "android": {"collapse_key": "a", "collapseKey": "b"}}"#)?.kind == .malformed)
    }

    @Test("numbers as proto3 reads them")
    func numbers() {
        for good in ["1", "\"2\"", "3.0", "0"] {
            #expect(error(#"{"topic": "a", "android": {"notification": {"notification_count": \#(good)}}}"#) == nil, "\(good)")
        }
        for bad in ["1.5", "\"x\"", "\"+1\"", "3000000000", "true"] {
            #expect(error(#"{"topic": "a", "android": {"notification": {"notification_count": \#(bad)}}}"#)?.kind == .malformed, "\(bad)")
        }
        #expect(error(#"{"topic": "a", "android": {"priority": 1}}"#) == nil)
        #expect(error(#"{"topic": "a", "android": {"priority": 2}}"#)?.kind == .malformed)
    }

    @Test("half a surrogate pair is not JSON")
    func surrogates() {
        #expect(error(#"{"topic": "a", "data": {"k": "\ud83d\ude00"}}"#) == nil)
        #expect(error(#"{"topic": "a", "data": {"k": "\\ud83d"}}"#) == nil)
        for bad in [#"\ud83d"#, #"\ude00"#, #"\ud83dx"#, #"\ud83d\u0041"#] {
            #expect(error(#"{"topic": "a", "data": {"k": "\#(bad)"}}"#)?.kind == .malformed, "\(bad)")
        }
    }

    @Test("durations", arguments: ["0s", "1s", "3.5s", "-1s", "0.000000001s", "315576000000s"])
    func durations(_ text: String) { #expect(ProtoDuration(text) != nil) }

    @Test("what is no duration", arguments: ["", "s", "1", "1m", ".5s", "1.s", "1.0000000001s", "+1s", "1e3s", "--1s", " 1s"])
    func badDurations(_ text: String) { #expect(ProtoDuration(text) == nil) }

    @Test("timestamps are read and written")
    func timestamps() throws {
        #expect(Timestamp("1970-01-01T00:00:00Z")?.milliseconds == 0)
        #expect(Timestamp("2026-07-01T12:00:00.5+02:00")?.milliseconds == 1_782_900_000_500)
        #expect(Timestamp("1969-12-31T23:59:59Z")?.milliseconds == -1000)
        for text in ["2026-01-01T00:00:00Z", "2024-02-29T23:59:59.123Z", "2000-03-01T00:00:00Z"] {
            #expect(Timestamp.text(milliseconds: try #require(Timestamp(text)).milliseconds) == text)
        }
        for text in ["yesterday", "2026-01-01", "2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00", "0000-01-01T00:00:00Z"] {
            #expect(Timestamp(text) == nil, "\(text)")
        }
    }

    @Test("a message's number can be read back from each form of its name")
    func names() {
        for number: Int64 in [1, 1_584_562_990_026_860, 1_999_999_999_999_999] {
            for form in [MessageID.Form.clock, .android, .uuid] {
                #expect(MessageID.number(MessageID.text(number, form)) == number, "\(form)")
            }
        }
        #expect(MessageID.text(1_584_562_990_026_860, .uuid).utf8.count == 36)
        #expect(MessageID.number("x") == nil)
    }

    @Test("what is stored is read back")
    func stored() throws {
        let text = #"{"message": {"condition": "'a' in topics", "data": {"k": "v"}, "webpush": {"headers": {"TTL": "60"}}}}"#
        let message = try MessageParser().parse(Array(text.utf8).span).message
        let body = JSONValue.object(message.fields).serialized()
        let again = Message(stored: body.span)
        #expect(again?.target == message.target)
        #expect(again?.fields == message.fields)
    }
}
