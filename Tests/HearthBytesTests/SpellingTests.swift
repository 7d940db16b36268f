import HearthBytes
import Testing

/// Suggestions for misspelled names.
@Suite struct SpellingTests {
    @Test(arguments: [
        ("serv", "serve"), ("srever", "serve"), ("zzzzzz", nil), ("databse:get", "database:get"),
        ("fucntions:list", "functions:list"), ("", nil), ("x", nil), ("exce", "exec"), ("func", "functions:list"), ("data", nil),
        (String(repeating: "serve", count: 20), nil),
    ])
    func commands(_ word: String, _ name: String?) {
        #expect(Spelling.nearest(to: word, among: ["serve", "exec", "database:get", "database:set", "functions:list"]) == name)
    }

    @Test(arguments: [
        ("timeoutseconds", "timeoutSeconds"), ("timeout_seconds", "timeoutSeconds"), ("memroy", "memory"), ("cup", "cpu"), ("time", "timeoutSeconds"),
        ("retries", nil), ("", nil),
    ])
    func options(_ word: String, _ name: String?) {
        #expect(Spelling.nearest(to: word, among: ["timeoutSeconds", "memory", "cpu", "cors"]) == name)
    }

    @Test func aQuestion() {
        #expect(Spelling.question(for: "ecko", among: ["echo", "add"]) == "did you mean echo?")
        #expect(Spelling.question(for: "ecko", among: []) == nil)
    }
}
