import AdminProtocol
import Testing

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
            $0 is FunctionFilter.Mistake && "\($0)".contains(words)
        }
    }

    @Test func namesToDelete() throws {
        let filter = try FunctionFilter(words: ["app-send", "functions:Chat:both", "both"], plugins: Self.plugins)
        #expect(Self.functions.filter { filter.matches(plugin: $0.0, function: $0.1) }.map(\.1) == ["app-send", "app-send-all", "both", "other"])
        #expect(filter.items.map(\.name) == ["app-send", "both", nil])
    }

    @Test("the member only of a request takes the items without their prefix too", arguments: [
        ("functions", ["app", "app-send", "apple-pay", "app-send-all", "both", "other"]), ("app-send", ["app-send", "app-send-all"]),
        ("functions:app.send", ["app-send", "app-send-all"]), ("Chat:both", ["both"]), ("nothing", []),
    ])
    func requests(text: String, names: [String]) throws {
        let filter = try FunctionFilter(only: [text], plugins: Self.plugins)
        #expect(Self.functions.filter { filter.matches(plugin: $0.0, function: $0.1) }.map(\.1) == names)
        let missing = filter.missing(among: Self.functions.map { (plugin: $0.0, function: $0.1) })
        #expect(missing.map(\.text) == (names.isEmpty ? [text] : []))
    }

    @Test("a plugin's name means the plugin, for the command line, a request and a deletion", arguments: ["Messages", "Chat", "both"])
    func pluginsAlike(name: String) throws {
        let option = try FunctionFilter(option: "--only", "functions:\(name)", plugins: Self.plugins)
        let request = try FunctionFilter(only: ["functions:\(name)"], plugins: Self.plugins)
        let deletion = try FunctionFilter(words: ["functions:\(name)"], plugins: Self.plugins)
        #expect(option == request && option == deletion)
        #expect(option.items.map(\.plugin) == [name])
        #expect(option.items.map(\.name) == [nil])
    }

    @Test func selectorsLoseTheirPrefix() {
        #expect(FunctionFilter.selector("functions:app") == "app")
        #expect(FunctionFilter.selector("app") == "app")
    }
}
