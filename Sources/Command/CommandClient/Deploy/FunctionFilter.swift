/// A selection of functions, in the grammar of the Firebase tools (spec functions 11.1).
///
/// `name` selects a function, or a group: all functions whose names continue with a dash after it; `app` does not select `apple-pay`. A dot
/// equals a dash. The name of a plugin selects all of its functions, and `PLUGIN:name` those of this name in the plugin.
public struct FunctionFilter: Sendable, Hashable {
    /// One item of the list.
    public struct Item: Sendable, Hashable {
        /// The plugin; nil for any.
        public let plugin: String?
        /// The beginning of the function's name, split at dashes; empty for every function.
        public let levels: [Substring]
        /// The text of the item.
        public let text: String

        /// Whether a function is selected.
        public func matches(plugin: String, function: String) -> Bool {
            if let own = self.plugin, own != plugin { return false }
            return function.split(separator: "-", omittingEmptySubsequences: false).starts(with: levels)
        }

        /// The name of the selected function or group; nil for a whole plugin.
        public var name: String? { levels.isEmpty ? nil : levels.joined(separator: "-") }
    }

    /// At least one.
    public let items: [Item]

    /// Parses the value of `--only` or `--except`: `functions`, `functions:a,functions:b`.
    ///
    /// - Parameter plugins: the names of all plugins.
    /// - Throws: `ClientFailure` of kind `invalidInput`.
    public init(option: String, _ text: String, plugins: [String]) throws(ClientFailure) {
        var items: [Item] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let word = part.filter { !$0.isWhitespace }
            let pieces = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard pieces.first == "functions" else { throw Self.refusal(option, word) }
            items.append(pieces.count == 1 ? Item(plugin: nil, levels: [], text: word) : try Self.item(pieces[1], word, plugins))
        }
        self.items = items
    }

    /// Parses the arguments of `functions:delete`: `a`, `group`, `PLUGIN`, `PLUGIN:a`, each with an optional `functions:` before it.
    public init(words: [String], plugins: [String]) throws(ClientFailure) {
        var items: [Item] = []
        for word in words {
            let name = word.hasPrefix("functions:") ? word.dropFirst("functions:".count) : Substring(word)
            items.append(try Self.item(name, word, plugins))
        }
        self.items = items
    }

    /// Whether a function is selected.
    public func matches(plugin: String, function: String) -> Bool { items.contains { $0.matches(plugin: plugin, function: function) } }

    private static func item(_ selector: Substring, _ word: String, _ plugins: [String]) throws(ClientFailure) -> Item {
        let pieces = selector.split(separator: ":", omittingEmptySubsequences: false)
        guard pieces.count <= 2, pieces.allSatisfy({ !$0.isEmpty }) else {
            throw ClientFailure(.invalidInput, "\(word) names no function; write NAME, GROUP, PLUGIN or PLUGIN:NAME")
        }
        if pieces.count == 1, plugins.contains(String(selector)) { return Item(plugin: String(selector), levels: [], text: word) }
        if pieces.count == 2, !plugins.contains(String(pieces[0])) {
            let known = plugins.isEmpty ? "there is none" : "there are \(plugins.joined(separator: ", "))"
            throw ClientFailure(.invalidInput, "\(word) names the plugin \(pieces[0]), which is not there; \(known)")
        }
        let levels = pieces[pieces.count - 1].split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "." }
        return Item(plugin: pieces.count == 2 ? String(pieces[0]) : nil, levels: levels, text: word)
    }

    private static func refusal(_ option: String, _ word: String) -> ClientFailure {
        switch word {
        case "": ClientFailure(.invalidInput, "\(option) has an empty place; write \(option) functions:a,functions:b")
        case "database":
            ClientFailure(.invalidInput, "\(option) takes functions only; put rules in force with `hearth database:rules set FILE`")
        case "hosting", "firestore", "storage", "remoteconfig", "extensions", "dataconnect", "apphosting", "auth":
            ClientFailure(.invalidInput, "this host has no \(word) to deploy; \(option) takes functions only")
        default:
            ClientFailure(.invalidInput, "\(option) takes functions, or functions:NAME with the prefix at each name; write functions:\(word)")
        }
    }
}
