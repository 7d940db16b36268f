import HearthJSON
import Testing

@testable import CommandClient

/// JSON as people type it.
@Suite struct RelaxedJSONTests {
    @Test(arguments: [
        ("{}", "{}"), ("{a: 1}", #"{"a":1}"#), ("{'a b': \"c\"}", #"{"a b":"c"}"#), ("{a-b: 1, $c: 2, 3: 4}", #"{"a-b":1,"$c":2,"3":4}"#),
        ("[1, 2,]", "[1,2]"), ("[,]", ""), ("{a: 1,}", #"{"a":1}"#), ("'it\\'s'", #""it's""#), (#"'say "no"'"#, #""say \"no\"""#),
        ("'a\nb'", #""a\nb""#), ("undefined", "null"), (".5", "0.5"), ("+5", "5"), ("5.", "5.0"), ("-.5e1", "-5.0"), ("1.e2", "100.0"),
        ("18446744073709551615", "18446744073709551615"), ("", ""), ("{", ""), ("{a}", ""), ("{a: b}", ""), ("'a", ""), ("1 2", ""), ("'\\x'", ""),
        ("--1", ""), ("01", ""), ("nul", ""), ("[1 2]", ""), ("{a: 1 b: 2}", ""),
    ])
    func values(_ text: String, _ json: String) throws {
        let value = try? RelaxedJSON.value(of: text)
        if json.isEmpty {
            #expect(value == nil)
        } else {
            #expect(value == (try JSONValue(parsing: json)))
        }
    }

    @Test func depthIsBounded() {
        #expect((try? RelaxedJSON.value(of: String(repeating: "[", count: 100_000))) == nil)
        #expect((try? RelaxedJSON.value(of: String(repeating: "[", count: 150) + String(repeating: "]", count: 150))) != nil)
    }

    @Test func complaintsNameThePlace() {
        #expect(throws: RelaxedJSONError(message: "b is not a value; text needs quotes", offset: 4)) { try RelaxedJSON.value(of: "{a: b}") }
        #expect(throws: RelaxedJSONError(message: "a comma or ] is missing", offset: 3)) { try RelaxedJSON.value(of: "[1 2]") }
    }
}

/// Statements at the prompt.
@Suite struct ShellStatementTests {
    private func call(_ text: String) -> (name: String, method: String?, arguments: [JSONValue])? {
        guard case .call(let name, let method, let arguments)? = try? ShellStatement(parsing: text) else { return nil }
        return (name, method, arguments)
    }

    @Test func calls() throws {
        let plain = try #require(call("add({a: 1}, {auth: null});"))
        #expect(plain.name == "add" && plain.method == nil && plain.arguments == [["a": 1], ["auth": nil]])
        let group = try #require(call("chat.room-1.send()"))
        #expect(group.name == "chat.room-1.send" && group.arguments.isEmpty)
        let method = try #require(call("chat.status.get('/a')"))
        #expect(method.name == "chat.status" && method.method == "get" && method.arguments == ["/a"])
        let bare = try #require(call(#"add {"a": 1}"#))
        #expect(bare.name == "add" && bare.arguments == [["a": 1]])
        let number = try #require(call("add -5"))
        #expect(number.name == "add" && number.arguments == [-5])
    }

    @Test func others() throws {
        for text in ["exit", ".exit", " quit "] { if case .exit = try ShellStatement(parsing: text) {} else { Issue.record("\(text)") } }
        if case .help = try ShellStatement(parsing: "help") {} else { Issue.record("help") }
        if case .nothing = try ShellStatement(parsing: "  ") {} else { Issue.record("blank") }
        if case .show("a.b") = try ShellStatement(parsing: "a.b") {} else { Issue.record("name") }
    }

    @Test(arguments: ["add(", "add(1", "add(1 2)", "add() 3", "(1)", "{}", ".open", "add {a: 1} 2"])
    func mistakes(_ text: String) {
        #expect(throws: RelaxedJSONError.self) { try ShellStatement(parsing: text) }
    }

    @Test func statementsGoOn() {
        #expect(ShellStatement.isOpen("add({a: 1,"))
        #expect(ShellStatement.isOpen("add({a: ')',"))
        #expect(!ShellStatement.isOpen("add({a: 1})"))
        #expect(!ShellStatement.isOpen("add({a: ')\"'})"))
        #expect(!ShellStatement.isOpen("add('("))
    }
}

/// The line that is typed.
@Suite struct EditedLineTests {
    @Test func editing() {
        var line = EditedLine("one two")
        line.moveWordLeft()
        line.insert("and ")
        #expect(line.text == "one and two")
        line.cutToEnd()
        line.moveToStart()
        line.paste()
        #expect(line.text == "twoone and ")
        line.moveToEnd()
        line.cutWord()
        #expect(line.text == "twoone ")
        line.cutToStart()
        #expect(line.text.isEmpty && line.cursor == 0)
        line.removeBackward()
        line.removeForward()
        line.insert("äé👩‍👧")
        line.moveLeft()
        line.removeForward()
        line.removeBackward()
        #expect(line.text == "ä")
    }
}

/// Streams of answers.
@Suite struct ServerSentEventsTests {
    @Test func piecesMakeEvents() {
        let text = Array(": hello\r\n\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n   \ndata:{}\n\ndata: open".utf8)
        for step in 1...text.count {
            var events = ServerSentEvents()
            var found: [String] = []
            for start in stride(from: 0, to: text.count, by: step) {
                let piece = Array(text[start..<min(start + step, text.count)])
                found += events.events(in: piece.span).map { String(decoding: $0, as: UTF8.self) }
            }
            #expect(found == ["{\"a\":\n1}", "{}"])
        }
    }
}
