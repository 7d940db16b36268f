/// Which functions are meant, in the grammar of the Firebase tools (spec functions 11.1).
///
/// `name` means a function, or the group of all functions whose names go on with a dash behind it; `app` is not `apple-pay`. A dot
/// is a dash. The name of a plugin alone means all of its functions, and `PLUGIN:name` what has that name in it.
public struct FunctionFilter: Sendable, Hashable {
    /// One word of it.
    public struct Item: Sendable, Hashable {
        /// The plugin that a function must be of; nil for any.
        public let plugin: String?
        /// What the function's name begins with, dash by dash; empty for every function.
        public let levels: [Substring]
        /// As it was written.
        public let text: String

        /// Whether a function is meant.
        public func matches(plugin: String, function: String) -> Bool {
            if let own = self.plugin, own != plugin { return false }
            return function.split(separator: "-", omittingEmptySubsequences: false).starts(with: levels)
        }

        /// The one name that is meant, where it is not a whole plugin: of a function, or of a group.
        public var name: String? { levels.isEmpty ? nil : levels.joined(separator: "-") }
    }

    /// At least one.
    public let items: [Item]

    /// Reads what `--only` and `--except` take: `functions`, `functions:a,functions:b`.
    ///
    /// - Parameter plugins: the names of the plugins that there are.
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

    /// Reads what `functions:delete` takes: `a`, `group`, `PLUGIN`, `PLUGIN:a`; `functions:` may stand before each.
    public init(words: [String], plugins: [String]) throws(ClientFailure) {
        var items: [Item] = []
        for word in words {
            let name = word.hasPrefix("functions:") ? word.dropFirst("functions:".count) : Substring(word)
            items.append(try Self.item(name, word, plugins))
        }
        self.items = items
    }

    /// Whether a function is meant.
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
