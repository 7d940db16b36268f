import HearthJSON
import Synchronization

/// How the last build of each plugin went, for `/_/api/builds`. Read on every loop.
package final class BuildLedger: Sendable {
    struct Entry: Sendable {
        enum State: String, Sendable {
            case building, built, failed
        }

        var plugin: String
        var state: State
        /// When it began, RFC 3339.
        var time: String
        var buildMilliseconds: Double?
        var switchMilliseconds: Double?
        /// Whether only the compiler was run.
        var isDirect: Bool?
        /// The functions that changed.
        var functions: [String] = []
        /// Why it failed.
        var message: String?
        var diagnostics = ""
    }

    private let entries = Mutex<[String: Entry]>([:])
    private let settings = Mutex<(isWatching: Bool, configuration: String?)>((false, nil))

    /// A ledger without builds.
    package init() {}

    func watches(_ configuration: String?) { settings.withLock { $0 = (true, configuration) } }

    func record(_ entry: Entry) { entries.withLock { $0[entry.plugin] = entry } }

    func forget(_ plugin: String) { entries.withLock { $0[plugin] = nil } }

    subscript(plugin: String) -> Entry? { entries.withLock { $0[plugin] } }

    package var json: JSONValue {
        let (isWatching, configuration) = settings.withLock { $0 }
        let builds = entries.withLock { $0.values.sorted { $0.plugin < $1.plugin } }.map(Self.json)
        var object: JSONObject = ["watching": .bool(isWatching), "builds": .array(builds)]
        if let configuration { object["configuration"] = .string(configuration) }
        return .object(object)
    }

    private static func json(_ entry: Entry) -> JSONValue {
        var object: JSONObject = ["plugin": .string(entry.plugin), "state": .string(entry.state.rawValue), "time": .string(entry.time)]
        if let milliseconds = entry.buildMilliseconds { object["buildMilliseconds"] = .double(milliseconds.rounded()) }
        if let milliseconds = entry.switchMilliseconds { object["switchMilliseconds"] = .double(milliseconds.rounded()) }
        if let isDirect = entry.isDirect { object["direct"] = .bool(isDirect) }
        object["functions"] = .array(entry.functions.map { .string($0) })
        if let message = entry.message { object["message"] = .string(message) }
        if !entry.diagnostics.isEmpty { object["diagnostics"] = .string(entry.diagnostics) }
        return .object(object)
    }
}
