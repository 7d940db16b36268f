import FuzzSupport
import Testing

@testable import Configuration

/// The corpus of `Tests/Fuzz/Configuration`, and texts made of it by chance: whatever is in a file, reading it ends in a value or in
/// problems that each fit on one line and have a place in the file.
///
/// A failure names its seed: `HEARTH_FUZZ_SEED=<seed> swift test --filter ConfigurationTests.FuzzTests` runs it again.
/// `HEARTH_FUZZ_ROUNDS` sets how many texts are made.
@Suite struct FuzzTests {
    private static let words = [
        "{", "}", "[", "]", ",", ":", "\"", "null", "true", "-1", "1e9", "\\u0000", "//", "/*", "#", "\n", "=", "'", "{{ params.A }}",
        "\"functions\": {", "\"a\": ", "\"cors\": ", "{\"regex\": \"(\"}", "\"cpu\": 0.5", "\"callableTrigger\": {}", "export ", "(?:", "{2,5}",
        "[^", "$", "\\b", "|",
    ]

    @Test(arguments: ["functions", "manifest", "environment", "patterns"])
    func everythingHolds(_ kind: String) throws {
        let corpus = try FuzzCorpus.load("Configuration/corpus/\(kind)")
        #expect(corpus.count > 4)
        let run = FuzzRun(corpus, words: Self.words, rounds: 1500)
        #expect(run.complaint { complaint(kind, $0) } == nil)
    }

    private func complaint(_ kind: String, _ text: [UInt8]) -> String? {
        switch kind {
        case "functions": functions(text)
        case "manifest": manifest(text)
        case "environment": environment(text)
        default: pattern(text)
        }
    }

    private func functions(_ text: [UInt8]) -> String? {
        do {
            let configuration = try Configuration(parsing: text, file: "f", mode: .development)
            let again = try Configuration(parsing: text, file: "f", mode: .development)
            if configuration.functions != again.functions || configuration.server != again.server { return "read differently twice" }
            if configuration.project.isEmpty { return "accepted without a project" }
            return complaint(configuration.warnings, text)
        } catch {
            return error.problems.isEmpty ? "refused without a reason" : complaint(error.problems, text)
        }
    }

    private func manifest(_ text: [UInt8]) -> String? {
        do {
            let manifest = try PluginManifest(parsing: text, source: "f")
            let configuration = try Configuration(parsing: Array(#"{"project": "demo-hearth"}"#.utf8), file: "g", mode: .development)
            if manifest.functions.map(\.index) != Array(manifest.functions.indices) { return "functions are not numbered in their order" }
            for function in manifest.functions {
                if let options = try? function.resolved(in: configuration), let complaint = complaint(options) { return complaint }
            }
            return nil
        } catch {
            return error.problems.isEmpty ? "refused without a reason" : complaint(error.problems, text)
        }
    }

    private func complaint(_ options: FunctionOptions) -> String? {
        if !(1...1000).contains(options.concurrency) { return "concurrency \(options.concurrency)" }
        if options.concurrency > 1 && options.cpu < 1 { return "concurrency \(options.concurrency) with cpu \(options.cpu)" }
        if !(0.0...3600).contains(options.timeoutSeconds) || options.timeoutSeconds == 0 { return "timeout \(options.timeoutSeconds)" }
        if options.maxInstances < max(1, options.minInstances) { return "maxInstances \(options.maxInstances)" }
        return nil
    }

    private func environment(_ text: [UInt8]) -> String? {
        let file = EnvironmentFile(text, file: "f", kind: .variables)
        let keys = file.entries.map(\.key)
        if Set(keys).count != keys.count { return "a key twice" }
        if !keys.allSatisfy(EnvironmentRules.isKey) { return "a key that is none" }
        return complaint(file.problems + file.warnings, text)
    }

    private func pattern(_ text: [UInt8]) -> String? {
        guard let pattern = try? Pattern(String(decoding: text, as: UTF8.self)) else { return nil }
        guard let grouped = try? Pattern("(?:\(pattern.source))") else { return "refused as a group" }
        for origin in ["", "aab", "https://a-1.example.org:8080", "bbccc\n🔥"] where pattern.matches(origin) != grouped.matches(origin) {
            return "a group around it changes whether it matches \(origin.debugDescription)"
        }
        return nil
    }

    private func complaint(_ problems: [Problem], _ text: [UInt8]) -> String? {
        let lineCount = text.count { $0 == UInt8(ascii: "\n") } + 1
        for problem in problems {
            if problem.description.contains(where: \.isNewline) { return "more than one line: \(problem.description.debugDescription)" }
            if let position = problem.position, position.line > lineCount || position.column < 1 { return "no such place: \(problem)" }
        }
        return nil
    }
}
