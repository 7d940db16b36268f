internal import HearthFunctions
internal import HearthJSON

/// A function's database trigger, read from the manifest.
struct TestTrigger {
    /// An event that a change raises for one function.
    struct Event {
        var function: String
        var type: String
        var path: String
        var params: [String: String]
        var before: JSONValue
        var after: JSONValue
    }

    private let function: String
    private let type: String
    private let segments: [String]
    private let instance: String

    /// Nil where the endpoint has no database trigger.
    init?(function: String, endpoint: JSONValue) {
        guard let trigger = endpoint["eventTrigger"], let type = trigger["eventType"]?.string, trigger["eventFilterPathPatterns"] != nil else {
            return nil
        }
        self.function = function
        self.type = type
        segments = (trigger["eventFilterPathPatterns"]?["ref"]?.string ?? "").split(separator: "/").map(String.init)
        instance = trigger["eventFilters"]?["instance"]?.string ?? trigger["eventFilterPathPatterns"]?["instance"]?.string ?? "*"
    }

    /// The function with its event and path: `shout (created at messages/{id}/text)`.
    var description: String {
        "\(function) (\(type.split(separator: ".").last ?? "") at \(segments.joined(separator: "/")))"
    }

    /// The events that a change raises, one for each matching path whose value it changed.
    ///
    /// Several paths on one branch may match a pattern with `**`. The written path has the event where it matches, else the
    /// uppermost one.
    func events(of commit: MemoryDatabase.Commit) -> [Event] {
        var params: [String: String] = [:]
        guard Self.matches(instance, commit.instance, &params) else { return [] }
        let (before, after) = (MemoryTree.stripped(commit.before), MemoryTree.stripped(commit.after))
        var events: [Event] = []
        if segments.contains(where: Self.isMany) {
            for place in commit.places {
                guard let found = Self.match(segments[...], place[...], params) else { continue }
                let (old, new) = (MemoryTree.node(before, at: place), MemoryTree.node(after, at: place))
                if old != new, let event = event(old, new, place, found) { events.append(event) }
            }
        }
        let taken = events.map { $0.path.split(separator: "/").map(String.init) }
        return events + walk(segments[...], before, after, [], params, apartFrom: taken)
    }

    /// The captures of a pattern that matches a whole path; nil where it does not.
    private static func match(_ pattern: ArraySlice<String>, _ path: ArraySlice<String>, _ params: [String: String]) -> [String: String]? {
        guard let segment = pattern.first else { return path.isEmpty ? params : nil }
        var inner = params
        if isMany(segment) {
            for count in 0...path.count {
                if let name = name(segment) { inner[name] = path.prefix(count).joined(separator: "/") }
                if let found = match(pattern.dropFirst(), path.dropFirst(count), inner) { return found }
            }
            return nil
        }
        guard let key = path.first, matches(segment, key, &inner) else { return nil }
        return match(pattern.dropFirst(), path.dropFirst(), inner)
    }

    /// Goes down where both trees differ, and leaves out the branches of the paths in `taken`.
    private func walk(
        _ pattern: ArraySlice<String>, _ before: JSONValue, _ after: JSONValue, _ path: [String], _ params: [String: String],
        apartFrom taken: [[String]]
    ) -> [Event] {
        if before == after || taken.contains(where: { path.starts(with: $0) }) { return [] }
        guard let segment = pattern.first else {
            if taken.contains(where: { $0.starts(with: path) }) { return [] }
            return event(before, after, path, params).map { [$0] } ?? []
        }
        var params = params
        if Self.isMany(segment) {
            if let name = Self.name(segment) { params[name] = params[name] ?? "" }
            let here = walk(pattern.dropFirst(), before, after, path, params, apartFrom: taken)
            if !here.isEmpty { return here }
        }
        let keys = Set(MemoryTree.children(of: before).map(\.key)).union(MemoryTree.children(of: after).map(\.key))
        return keys.sorted().flatMap { key in
            var inner = params
            if Self.isMany(segment) {
                if let name = Self.name(segment) { inner[name] = [params[name] ?? "", key].filter { !$0.isEmpty }.joined(separator: "/") }
            } else if !Self.matches(segment, key, &inner) {
                return [Event]()
            }
            return walk(
                Self.isMany(segment) ? pattern : pattern.dropFirst(), MemoryTree.node(before, at: [key]), MemoryTree.node(after, at: [key]),
                path + [key], inner, apartFrom: taken)
        }
    }

    private static func isMany(_ segment: String) -> Bool { segment == "**" || segment.hasSuffix("=**}") }

    private func event(_ before: JSONValue, _ after: JSONValue, _ path: [String], _ params: [String: String]) -> Event? {
        let kind = before.isNull ? "created" : after.isNull ? "deleted" : "updated"
        guard type.hasSuffix(".written") || type.hasSuffix(".\(kind)") else { return nil }
        func plain(_ node: JSONValue) -> JSONValue { node.isNull ? .null : PlainValue(exported: MemoryTree.ordered(node)).value }
        return Event(
            function: function, type: type, path: path.joined(separator: "/"), params: params, before: plain(before), after: plain(after))
    }

    /// The name in `{name}` or `{name=pattern}`.
    private static func name(_ segment: String) -> String? {
        guard segment.hasPrefix("{"), segment.hasSuffix("}") else { return nil }
        return segment.dropFirst().dropLast().split(separator: "=").first.map(String.init)
    }

    /// Whether one key matches a segment. Notes the segment's capture.
    private static func matches(_ segment: String, _ key: String, _ params: inout [String: String]) -> Bool {
        guard let name = name(segment) else { return glob(segment[...], key[...]) }
        let inner = segment.dropFirst().dropLast().split(separator: "=", maxSplits: 1)
        guard inner.count < 2 || glob(inner[1], key[...]) else { return false }
        params[name] = key
        return true
    }

    private static func glob(_ pattern: Substring, _ text: Substring) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" { return glob(pattern.dropFirst(), text) || (!text.isEmpty && glob(pattern, text.dropFirst())) }
        return text.first == first && glob(pattern.dropFirst(), text.dropFirst())
    }
}
