import Configuration
import HearthJSON

/// One version of a function: a library, options and variables. It is never changed once it has a number.
package struct FunctionVersion: Codable, Sendable, Equatable {
    /// Who brought it.
    package enum Origin: String, Codable, Sendable {
        /// The plugins of the host's own `functions.json`.
        case local
        /// A deployment over the administration.
        case deploy
    }

    /// Counts from 1 for each function.
    package var number: Int
    /// The plugin's name.
    package var plugin: String
    /// SHA-256 of the library.
    package var artifact: String
    /// What people call the library's file.
    package var file: String
    var isIsolated: Bool
    /// The function's entry of the deployer's `functions.json`.
    var overrides: JSONObject
    /// The `defaults` of the deployer's `functions.json`.
    var defaults: JSONObject
    /// What the host's own `functions.json` said when the version was made.
    var host: OperatorOptions
    /// Variables of the `.env` files; never secrets.
    var environment: [String: String]
    /// RFC 3339.
    package var time: String
    package var origin: Origin
    /// The deployment that made it.
    package var deployment: Int
    /// What it runs because of, where that is events: writes raise them also while the library cannot be loaded. Nil in the records of
    /// hosts that did not note it.
    var event: EventTrigger?

    enum CodingKeys: String, CodingKey {
        case number = "version", plugin, artifact, file, isIsolated = "isolated", overrides, defaults, host, environment, time, origin
        case deployment, event
    }

    /// Names it among all versions of all functions.
    struct Key: Hashable, Sendable {
        var function: String
        var number: Int
    }
}

/// What a host's `functions.json` says of a function: it is laid over what a deployer says, since the operator has the last word.
struct OperatorOptions: Codable, Sendable, Equatable {
    var region: String
    /// The `defaults` object.
    var defaults: JSONObject
    /// The function's own entry.
    var function: JSONObject
}

extension OperatorOptions {
    /// Those of a whole file, for one function after the other.
    struct File: Sendable {
        private let region: String
        private let defaults: JSONObject
        private let functions: JSONObject

        init(_ configuration: Configuration) {
            let document = (try? JSONValue(parsing: configuration.document)) ?? .null
            region = configuration.region
            defaults = document["defaults"]?.object ?? JSONObject()
            functions = document["functions"]?.object ?? JSONObject()
        }

        subscript(name: String) -> OperatorOptions {
            OperatorOptions(region: region, defaults: defaults, function: functions[name]?.object ?? JSONObject())
        }
    }
}
