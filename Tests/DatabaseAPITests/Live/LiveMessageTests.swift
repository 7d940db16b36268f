import HearthBytes
import HearthJSON
import Testing
import Tree

@testable import DatabaseAPI
@testable import RealtimeDatabase

/// Messages of clients (spec database 3.3, 3.4).
@Suite("Live messages")
struct LiveMessageTests {
    /// The parts of a request, or the reason of a fault.
    private func read(_ text: String) -> String {
        let bytes = Array(text.utf8)
        do throws(LiveMessage.Fault) {
            switch try LiveMessage(parsing: bytes.span) {
            case .control(let kind): return "control \(kind)"
            case .request(let number, let action, let body): return "\(number) \(action) \(bytes.span.extracting(body).string())"
            }
        } catch {
            return error.reason
        }
    }

    @Test(arguments: [
        (#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}"#, #"1 q {"p":"/a","h":""}"#),
        (#"{"d":{"b":{"}":"{\"]"},"a":"p","r":7},"t":"d"}"#, #"7 p {"}":"{\"]"}"#),
        (" {\n\"t\" : \"d\" , \"d\" : { \"r\" : 0 , \"a\" : \"n\" , \"b\" : [ 1 , { } ] } } ", "0 n [ 1 , { } ]"),
        (#"{"t":"d","d":{"r":2,"a":"unauth"}}"#, "2 unauth "),
        (#"{"t":"d","d":{"r":3,"a":"s","b":{},"more":[[],"x",null]},"more":1}"#, "3 s {}"),
        (#"{"t":"c","d":{"t":"p","d":{}}}"#, "control p"),
        (#"{"t":"c","d":{"t":"n"}}"#, "control n"),
    ])
    func isRead(_ text: String, _ parts: String) { #expect(read(text) == parts) }

    @Test(arguments: [
        ("", "a JSON object is expected"),
        ("[]", "a JSON object is expected"),
        ("{}", #"a message must have the members "t" and "d""#),
        (#"{"t":"d"}"#, #"a message must have the members "t" and "d""#),
        (#"{"t":"x","d":{}}"#, #"the type of a message must be "c" or "d""#),
        (#"{"t":"c","d":{}}"#, #"a control message must have a type "t""#),
        (#"{"t":"c","d":1}"#, "a JSON object is expected"),
        (#"{"t":"d","d":{"a":"q"}}"#, "a request must have a number \"r\" from 0 to 2147483647"),
        (#"{"t":"d","d":{"r":-1,"a":"q"}}"#, "a request must have a number \"r\" from 0 to 2147483647"),
        (#"{"t":"d","d":{"r":2147483648,"a":"q"}}"#, "a request must have a number \"r\" from 0 to 2147483647"),
        (#"{"t":"d","d":{"r":1.5,"a":"q"}}"#, "a request must have a number \"r\" from 0 to 2147483647"),
        (#"{"t":"d","d":{"r":1}}"#, #"a request must have an action "a""#),
        (#"{"t":"d","d":{"r":1,"a":5}}"#, #"a request must have an action "a""#),
        (#"{"t":"d","d":{}"#, "the message is not JSON (at byte 15)"),
        (#"{"t":"d","d":{}}x"#, "the message is not JSON (at byte 16)"),
        (#"{"t":"d" "d":{}}"#, "the message is not JSON (at byte 9)"),
        (#"{"t":,"d":{}}"#, "the message is not JSON (at byte 5)"),
        (#"{t:1}"#, "the message is not JSON (at byte 1)"),
        (#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"}}}"#, "the message is not JSON (at byte 13)"),
    ])
    func isRefused(_ text: String, _ reason: String) { #expect(read(text) == reason) }

    // MARK: Actions

    private func action(_ name: String, _ body: String) -> LiveAction {
        let bytes = Array(body.utf8)
        return LiveAction(name, body: bytes.span, limits: DraftLimits())
    }

    private func refusal(_ name: String, _ body: String) -> String? {
        guard case .refused(let refusal) = action(name, body) else { return nil }
        return "\(refusal.status): \(refusal.message)"
    }

    @Test(arguments: [
        ("q", #"{"h":""}"#, #"failure: the path "p" must be a string"#),
        ("q", #"{"p":7}"#, #"failure: the path "p" must be a string"#),
        ("q", "7", #"failure: the body "b" of a request must be an object"#),
        ("q", #"{"p":"/a","q":{"l":1,"vf":"l"}}"#, #"failure: a listen with a query must have a tag "t""#),
        ("q", #"{"p":"/a","q":{"l":1,"vf":"l"},"t":0}"#, #"failure: the tag "t" of a listen must be a positive integer"#),
        ("q", #"{"p":"/a","q":{"l":1,"vf":"l"},"t":"1"}"#, #"failure: the tag "t" of a listen must be a positive integer"#),
        ("q", #"{"p":"/a","q":7,"t":1}"#, #"failure: the query "q" must be an object"#),
        ("p", #"{"p":"/a"}"#, #"failure: a write must have data "d""#),
        ("p", #"{"p":"/a/.priority","d":1,"h":""}"#, "failure: a priority cannot be written with a hash"),
        ("p", #"{"p":"/.info/connected","d":1}"#, "permission_denied: Permission denied"),
        ("m", #"{"p":".info","d":{}}"#, "permission_denied: Permission denied"),
        ("o", #"{"p":"/.info/x","d":1}"#, "permission_denied: Permission denied"),
        ("o", #"{"p":"/a"}"#, #"failure: a write must have data "d""#),
        ("o", #"{"p":"/a","d":x}"#, #"failure: the data "d" must be JSON"#),
        ("auth", "{}", #"invalid_token: "cred" must be a string"#),
        ("gauth", #"{"cred":"owner","authvar":7}"#, #"failure: "authvar" must be an object, at most 32 levels deep and of at most 65536 bytes"#),
        ("gauth", #"{"cred":"owner","noauth":1}"#, #"failure: "noauth" must be true or false"#),
        ("q", #"{"p":"/a","h":5}"#, #"failure: "h" must be a string"#),
        ("p", #"{"p":"/a","d":1,"h":5}"#, #"failure: "h" must be a string"#),
        ("m", #"{"p":"/a","d":{"b":1},"h":[]}"#, #"failure: "h" must be a string"#),
        ("appcheck", "{}", #"failure: "token" must be a string"#),
        ("x", "{}", #"failure: the action "x" is unknown"#),
    ])
    func mistakesAreNamed(_ name: String, _ body: String, _ reason: String) { #expect(refusal(name, body) == reason) }

    @Test func mistakesInDataAreNamed() {
        #expect(refusal("p", #"{"p":"/a","d":{"b.c":1}}"#)?.hasPrefix("failure: ") == true)
        #expect(refusal("p", #"{"p":"/a/b#c","d":1}"#)?.hasPrefix("failure: ") == true)
        #expect(refusal("m", #"{"p":"/a","d":7}"#)?.hasPrefix("failure: ") == true)
        let deep = String(repeating: #"{"a":"#, count: 40) + "1" + String(repeating: "}", count: 40)
        #expect(refusal("p", #"{"p":"/a","d":\#(deep)}"#)?.hasPrefix("failure: ") == true)
    }

    @Test func actionsAreUnderstood() throws {
        guard case .listen(let place, let hash, let tag) = action("q", #"{"p":"a/b","h":"x=","q":{"i":".key"},"t":3}"#) else {
            Issue.record("not a listen")
            return
        }
        #expect((place.path?.description, hash, tag) == (try Path(parsing: "a/b").description, "x=", nil), "an order alone is no query")
        guard case .listen(let info, _, _) = action("q", #"{"p":"/.info/connected","h":""}"#) else {
            Issue.record("not a listen")
            return
        }
        #expect(info.path == nil)
        guard case .write(let write) = action("p", #"{"p":"/a","d":{"b":1,"c":"xx"},"h":""}"#) else {
            Issue.record("not a write")
            return
        }
        #expect((write.hash, write.leaves, write.isUpdate) == ("", 2, false), "an empty hash is a hash")
        #expect(action("p", #"{"p":"/a","d":1,"h":""}"#).group == .alone, "later writes do not overtake a condition")
        #expect(action("p", #"{"p":"/a","d":1,"h":null}"#).group == .write)
        guard case .write(let update) = action("m", #"{"p":"/a","d":{"b/c":1,"d":null}}"#) else {
            Issue.record("not an update")
            return
        }
        #expect((update.hash, update.isUpdate) == (nil, true))
        guard case .authenticate(let credential) = action("gauth", #"{"cred":"x","noauth":true,"authvar":{"uid":"u"}}"#) else {
            Issue.record("no credential")
            return
        }
        #expect((credential.token, credential.isSignedOut, credential.override) == (Array("x".utf8), true, .object(["uid": "u"])))
        guard case .nothing = action("s", "{}") else {
            Issue.record("statistics do something")
            return
        }
        for name in ["unappcheck", "unappeck"] {
            guard case .endAppCheck = action(name, "{}") else {
                Issue.record("\(name) does not end App Check")
                continue
            }
        }
    }
}

private func == (left: (String?, String, Int?), right: (String?, String, Int?)) -> Bool {
    left.0 == right.0 && left.1 == right.1 && left.2 == right.2
}
