/// A selection of functions, in the grammar of the Firebase tools (spec functions 11.1). The host and the command line read it alike.
///
/// `name` selects a function, or a group: all functions whose names continue with a dash after it; `app` does not select `apple-pay`. A dot
/// equals a dash. The name of a plugin selects all of its functions, even if a function has that name too, and `PLUGIN:name` those of
/// this name in the plugin.
package struct FunctionFilter: Sendable, Hashable {
    /// One item of the list.
    package struct Item: Sendable, Hashable {
        /// The plugin; nil for any.
        package let plugin: String?
        /// The beginning of the function's name, split at dashes; empty for every function.
        package let levels: [Substring]
        /// The text of the item.
        package let text: String

        /// Whether a function is selected.
        package func matches(plugin: String, function: String) -> Bool {
            if let own = self.plugin, own != plugin { return false }
            return function.split(separator: "-", omittingEmptySubsequences: false).starts(with: levels)
        }

        /// The name of the selected function or group; nil for a whole plugin.
        package var name: String? { levels.isEmpty ? nil : levels.joined(separator: "-") }
    }

    /// The reason why a text is not a selection.
    package struct Mistake: Error, Hashable, CustomStringConvertible {
        /// One sentence for a person.
        package let description: String
    }

    /// The items of the list; a function is selected if one of them selects it.
    package let items: [Item]

    private static let prefix = "functions"

    /// Reads the value of the option `--only` or `--except`: `functions`, `functions:a,functions:b`.
    ///
    /// - Parameter plugins: the names of all plugins.
    package init(option: String, _ text: String, plugins: [String]) throws(Mistake) {
        var items: [Item] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let word = part.filter { !$0.isWhitespace }
            let pieces = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = pieces.first, first == Self.prefix else { throw Self.mistake(option, word) }
            items.append(pieces.count == 1 ? Item(plugin: nil, levels: [], text: word) : try Self.item(pieces[1], word, plugins))
        }
        self.items = items
    }

    /// Reads the member `only` of a deployment request: the same items as a list, also without `functions:`.
    package init(only texts: [String], plugins: [String]) throws(Mistake) {
        var items: [Item] = []
        for text in texts {
            items.append(text == Self.prefix ? Item(plugin: nil, levels: [], text: text) : try Self.item(Self.selector(text), text, plugins))
        }
        self.items = items
    }

    /// Reads the arguments of `functions:delete`: `a`, `group`, `PLUGIN`, `PLUGIN:a`, each with an optional `functions:` before it.
    package init(words: [String], plugins: [String]) throws(Mistake) {
        var items: [Item] = []
        for word in words { items.append(try Self.item(Self.selector(word), word, plugins)) }
        self.items = items
    }

    /// Whether a function is selected.
    package func matches(plugin: String, function: String) -> Bool { items.contains { $0.matches(plugin: plugin, function: function) } }

    /// The items that select none of these functions.
    package func missing(among functions: [(plugin: String, function: String)]) -> [Item] {
        items.filter { item in item.name != nil && !functions.contains { item.matches(plugin: $0.plugin, function: $0.function) } }
    }

    /// The function of an item of a list of names, such as that of `functions:log --only`: without `functions:`.
    package static func selector(_ word: String) -> Substring {
        word.hasPrefix("\(prefix):") ? word.dropFirst(prefix.count + 1) : Substring(word)
    }

    private static func item(_ selector: Substring, _ word: String, _ plugins: [String]) throws(Mistake) -> Item {
        let pieces = selector.split(separator: ":", omittingEmptySubsequences: false)
        guard pieces.count <= 2, pieces.allSatisfy({ !$0.isEmpty }) else {
            throw Mistake(description: "\(word) names no function; write NAME, GROUP, PLUGIN or PLUGIN:NAME")
        }
        if pieces.count == 1, plugins.contains(String(selector)) { return Item(plugin: String(selector), levels: [], text: word) }
        if pieces.count == 2, !plugins.contains(String(pieces[0])) {
            let known = plugins.isEmpty ? "there is none" : "there are \(plugins.joined(separator: ", "))"
            throw Mistake(description: "\(word) names the plugin \(pieces[0]), which is not there; \(known)")
        }
        let levels = pieces[pieces.count - 1].split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "." }
        return Item(plugin: pieces.count == 2 ? String(pieces[0]) : nil, levels: levels, text: word)
    }

    private static func mistake(_ option: String, _ word: String) -> Mistake {
        switch word {
        case "": Mistake(description: "\(option) has an empty place; write \(option) functions:a,functions:b")
        case "database":
            Mistake(description: "\(option) takes functions only; put rules in force with `hearth database:rules set FILE`")
        case "hosting", "firestore", "storage", "remoteconfig", "extensions", "dataconnect", "apphosting", "auth":
            Mistake(description: "this host has no \(word) to deploy; \(option) takes functions only")
        default:
            Mistake(
                description: "\(option) takes functions, or functions:NAME with the prefix at each name; write functions:\(word)")
        }
    }
}
