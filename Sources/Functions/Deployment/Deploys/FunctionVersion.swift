import Configuration
import HearthJSON

/// A version of a function: a library, options and variables. Never changed once it has a number.
package struct FunctionVersion: Codable, Sendable, Equatable {
    /// The source of the version.
    package enum Origin: String, Codable, Sendable {
        /// The plugins of the host's own `functions.json`.
        case local
        /// A deployment through the admin API.
        case deploy
    }

    /// The number, counted from 1 for each function.
    package var number: Int
    /// The plugin's name.
    package var plugin: String
    /// The SHA-256 of the library.
    package var artifact: String
    /// The name of the library's file, for messages.
    package var file: String
    var isIsolated: Bool
    /// The function's entry of the deployer's `functions.json`.
    var overrides: JSONObject
    /// The `defaults` of the deployer's `functions.json`.
    var defaults: JSONObject
    /// The options in the host's own `functions.json` when the version was made.
    var host: OperatorOptions
    /// Variables of the `.env` files; never secrets.
    var environment: [String: String]
    /// The creation time, in the form of RFC 3339.
    package var time: String
    package var origin: Origin
    /// The deployment that created it.
    package var deployment: Int
    /// The trigger of an event function: writes raise its events even while the library cannot be loaded. Nil in the records of
    /// hosts that did not note it.
    var event: EventTrigger?

    enum CodingKeys: String, CodingKey {
        case number = "version", plugin, artifact, file, isIsolated = "isolated", overrides, defaults, host, environment, time, origin
        case deployment, event
    }

    /// Identifies a version among all versions of all functions.
    struct Key: Hashable, Sendable {
        var function: String
        var number: Int
    }
}

/// The options of a function in a host's `functions.json`. They override those of the deployer, since the operator has the last word.
struct OperatorOptions: Codable, Sendable, Equatable {
    var region: String
    /// The `defaults` object.
    var defaults: JSONObject
    /// The entry of the function.
    var function: JSONObject
}

extension OperatorOptions {
    /// The options in a whole file, by function.
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
