import FuzzSupport
import HearthJSON
import Testing

@testable import CommandClient

/// The corpora of `Tests/Fuzz/Users`, and texts made of them by chance: how a file is cut when it is read does not matter, what is no JSON is
/// refused, and what is exported is read again.
///
/// A failure names its seed: `HEARTH_FUZZ_SEED=<seed> swift test --filter CommandClientTests.UserFileFuzzTests` runs it again.
@Suite struct UserFileFuzzTests {
    private static let words = [
        "{", "}", "[", "]", ",", ":", "\"", "null", "\"users\": [", "{\"localId\": \"x\"}", "\\", "\n", "\r\n", "\\u0022", "\"\"", "true",
        "\"salt\": \"a\"", "ä", " ",
    ]

    @Test func jsonHolds() throws {
        let run = FuzzRun(try FuzzCorpus.load("Users/corpus"), words: Self.words, bytesMax: 1000, rounds: 3000)
        let complaint = run.complaint { text, random in self.complaint(text, .json, &random) }
        #expect(complaint == nil)
    }

    @Test func recordsHold() throws {
        let run = FuzzRun(try FuzzCorpus.load("Users/records"), words: Self.words, bytesMax: 1000, rounds: 3000)
        let complaint = run.complaint { text, random in self.complaint(text, .csv, &random) }
        #expect(complaint == nil)
    }

    private struct Result {
        var rows: [String] = []
        var users: [JSONObject] = []
        var error: UserFileError?
    }

    private func read(_ text: [UInt8], _ format: UserFileFormat, step: () -> Int) -> Result {
        var result = Result()
        var reader = UserFileReader(format)
        var start = 0
        func take(_ row: UserRow) {
            result.rows.append("\(row.number) \(row.line) \(row.content)")
            if case .success(let user) = row.content { result.users.append(user) }
        }
        do throws(UserFileError) {
            while start < text.count {
                let end = min(start + step(), text.count)
                reader.append(text.span.extracting(start..<end))
                start = end
                while let row = try reader.next() { take(row) }
            }
            reader.finish()
            while let row = try reader.next() { take(row) }
        } catch {
            result.error = error
        }
        return result
    }

    private func complaint(_ text: [UInt8], _ format: UserFileFormat, _ random: inout SeededRandom) -> String? {
        let whole = read(text, format) { text.count }
        var steps = random
        let cut = read(text, format) { steps.below(9) + 1 }
        random = steps
        if whole.error != cut.error { return "cut differently, \(whole.error as Any) and \(cut.error as Any)" }
        if whole.rows != cut.rows { return "cut differently, other users" }
        if let error = whole.error, !(1...text.count { $0 == UInt8(ascii: "\n") } + 1).contains(error.line) { return "no such line: \(error)" }
        if format == .json {
            // Members beside the users are skipped without a check, and so is a member before them.
            if whole.error == nil, whole.users.isEmpty, !whole.rows.isEmpty { return nil }
        } else {
            for user in whole.users { if let complaint = self.complaint(again: user) { return complaint } }
        }
        return nil
    }

    /// Writes a user of a record, and reads it again.
    private func complaint(again user: JSONObject) -> String? {
        var row = user
        if let time = row.removeValue(forKey: "lastLoginAt") { row["lastSignedInAt"] = time }
        let again = read(Array(CSVUser.record(row).utf8), .csv) { 100 }
        guard user["localId"]?.string?.isEmpty == false else { return nil }
        guard again.error == nil, again.users.count == 1, let found = again.users.first else { return "is not read again: \(again)" }
        for name in user.keys where found[name] != user[name] { return "\(name) is \(String(describing: found[name])) when it is read again" }
        return nil
    }
}
