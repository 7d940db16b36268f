import Testing

@testable import CommandClient

@Suite struct FunctionFilterTests {
    private static let plugins = ["Messages", "Chat", "both"]

    private static func meant(_ text: String, _ functions: [(String, String)]) throws -> [String] {
        let filter = try FunctionFilter(option: "--only", text, plugins: plugins)
        return functions.filter { filter.matches(plugin: $0.0, function: $0.1) }.map(\.1)
    }

    private static let functions = [
        ("Messages", "app"), ("Messages", "app-send"), ("Messages", "apple-pay"), ("Chat", "app-send-all"), ("Chat", "both"), ("both", "other"),
    ]

    @Test(arguments: [
        ("functions", ["app", "app-send", "apple-pay", "app-send-all", "both", "other"]),
        // A group ends at a dash.
        ("functions:app", ["app", "app-send", "app-send-all"]), ("functions:app-send", ["app-send", "app-send-all"]),
        // Dots are dashes.
        ("functions:app.send", ["app-send", "app-send-all"]), ("functions:app.send-all", ["app-send-all"]),
        ("functions:apple", ["apple-pay"]), ("functions:appl", []), ("functions:App", []),
        // A plugin, and what is in it.
        ("functions:Messages", ["app", "app-send", "apple-pay"]), ("functions:Messages:app", ["app", "app-send"]),
        ("functions:Chat:app.send", ["app-send-all"]), ("functions:Chat:other", []),
        // The plugin comes before the function of its name.
        ("functions:both", ["other"]), ("functions:Chat:both", ["both"]),
        ("functions:apple,functions:Chat:both", ["apple-pay", "both"]), (" functions:apple , functions:both", ["apple-pay", "other"]),
    ])
    func words(text: String, names: [String]) throws {
        #expect(try Self.meant(text, Self.functions) == names)
    }

    @Test(arguments: [
        ("app", "functions:app"), ("functions:", "names no function"),
        ("functions:a:b:c", "names no function"), ("functions::a", "names no function"),
        ("functions:Nobody:a", "Messages, Chat, both"), ("functions:a,,functions:b", "empty place"), ("", "empty place"),
        ("database", "database:rules set"), ("functions:a,hosting", "no hosting"), ("functionsx", "functions:functionsx"),
    ])
    func whatIsRefused(text: String, saying words: String) {
        #expect { try FunctionFilter(option: "--only", text, plugins: Self.plugins) } throws: {
            ($0 as? ClientFailure)?.kind == .invalidInput && "\($0)".contains(words)
        }
    }

    @Test func namesToDelete() throws {
        let filter = try FunctionFilter(words: ["app-send", "functions:Chat:both", "both"], plugins: Self.plugins)
        #expect(Self.functions.filter { filter.matches(plugin: $0.0, function: $0.1) }.map(\.1) == ["app-send", "app-send-all", "both", "other"])
        #expect(filter.items.map(\.name) == ["app-send", "both", nil])
    }
}

@Suite struct FunctionSelectionTests {
    private static let plan = DeploymentSummary(
        revision: 3,
        changes: [
            DeploymentChange(function: "b", plugin: "P", action: .unchanged), DeploymentChange(function: "a", plugin: "P", action: .update),
            DeploymentChange(function: "c", plugin: "Q", action: .delete), DeploymentChange(function: "c-d", plugin: "Q", action: .create),
        ])

    private static func filter(_ text: String) throws -> FunctionFilter { try FunctionFilter(option: "--only", text, plugins: ["P", "Q"]) }

    @Test func whatHappensComesFirst() {
        #expect(Self.plan.changes.map(\.function) == ["c-d", "a", "c", "b"])
        #expect(Self.plan.withoutDeletions.changes.map(\.action) == [.create, .update, .keep, .unchanged])
    }

    @Test func onlyAndExcept() throws {
        let group = FunctionSelection(only: try Self.filter("functions:c"))
        #expect(try group.applied(to: Self.plan).changes.map(\.function) == ["c-d", "c"])
        let rest = FunctionSelection(only: try Self.filter("functions:c"), except: try Self.filter("functions:c-d"))
        #expect(try rest.applied(to: Self.plan).changes.map(\.function) == ["c"])
        #expect(try FunctionSelection(except: try Self.filter("functions:Q")).applied(to: Self.plan).changes.map(\.function) == ["a", "b"])
        #expect(try FunctionSelection().applied(to: Self.plan) == Self.plan)
    }

    @Test func aWordThatMeansNothing() throws {
        let selection = FunctionSelection(only: try Self.filter("functions:a,functions:x"))
        #expect(throws: ClientFailure(.invalidInput, "functions:x matches no function; there are a, b, c, c-d")) {
            try selection.applied(to: Self.plan)
        }
    }
}
