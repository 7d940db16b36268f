package import HearthJSON

/// Shares of the calls by version, in percent.
package struct TrafficShares: Codable, Sendable, Equatable {
    package var percents: [Int: Int]

    package init(_ percents: [Int: Int]) { self.percents = percents }

    /// The versions that get calls, the largest share first; of equal shares the newest version.
    package var largestFirst: [(version: Int, percent: Int)] {
        percents.filter { $0.value > 0 }.sorted { ($0.value, $0.key) > ($1.value, $1.key) }.map { (version: $0.key, percent: $0.value) }
    }

    package init(from decoder: any Decoder) throws {
        percents = [:]
        for (version, percent) in try JSONObject(from: decoder) {
            guard let number = Int(version), let percent = percent.int else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "must be an object such as {\"5\": 90, \"6\": 10}"))
            }
            percents[number] = percent
        }
    }

    package func encode(to encoder: any Encoder) throws {
        // In the order of versions, not of a dictionary.
        try JSONObject(percents.sorted { $0.key < $1.key }.map { ("\($0.key)", JSONValue($0.value)) }).encode(to: encoder)
    }
}

/// A function in the list of functions.
package struct FunctionEntry: AdminMessage {
    package var name: String
    /// `callable`, `https`, or the type of its events; nil if it does not run.
    package var trigger: String?
    /// The path of an event function.
    package var ref: String?
    /// The database of an event function.
    package var instance: String?
    package var region: String?
    package var memoryMb: Int?
    package var timeoutSeconds: Double?
    package var concurrency: Int?
    package var minInstances: Int?
    package var maxInstances: Int?
    /// Its URL; nil for an event function.
    package var url: String?
    /// The number of workers that it has now.
    package var instances: Int?
    package var plugin: String
    /// The version with the largest share of calls.
    package var version: Int?
    /// The SHA-256 of that version's library.
    package var artifact: String?
    package var traffic: TrafficShares?
    /// `local` or `deploy`.
    package var origin: String?
    /// The time at which the version was created, RFC 3339.
    package var updated: String?
    /// The reason why it is not served.
    package var problem: String?
    /// For a plugin inside the host: the version that runs until the host restarts.
    package var runningVersion: Int?

    package init(name: String, plugin: String) {
        self.name = name
        self.plugin = plugin
    }
}

/// The answer to `GET functions`.
package struct FunctionList: AdminMessage {
    /// The revision of the deployed state.
    package var revision: Int
    package var functions: [FunctionEntry]

    package init(revision: Int, functions: [FunctionEntry]) {
        self.revision = revision
        self.functions = functions
    }
}

/// A version in the list of versions.
package struct VersionEntry: AdminMessage {
    package var version: Int
    package var artifact: String
    package var plugin: String
    /// The name of the library's file.
    package var file: String
    /// RFC 3339.
    package var time: String
    package var origin: String
    /// The deployment that created it.
    package var deployment: Int
    /// Its share of the calls, in percent.
    package var traffic: Int

    package init(
        version: Int, artifact: String, plugin: String, file: String, time: String, origin: String, deployment: Int, traffic: Int
    ) {
        self.version = version
        self.artifact = artifact
        self.plugin = plugin
        self.file = file
        self.time = time
        self.origin = origin
        self.deployment = deployment
        self.traffic = traffic
    }
}

/// The answer to `GET functions/NAME/versions`.
package struct VersionList: AdminMessage {
    /// Newest first.
    package var versions: [VersionEntry]

    package init(versions: [VersionEntry]) { self.versions = versions }
}

/// `POST functions/NAME:rollback`.
package struct RollbackRequest: AdminMessage {
    /// The version; nil for the one that had all calls before.
    package var to: Int?

    package init(to: Int?) { self.to = to }

    /// Reads and checks a request; an absent body asks for the version before.
    package init(parsing body: JSONValue) throws(AdminError) {
        guard let value = body["to"], !value.isNull else { return }
        guard let number = value.int else { throw .invalid("to must be the number of a version") }
        to = number
    }
}

/// `POST functions/NAME:split`.
package struct SplitRequest: AdminMessage {
    package var versions: TrafficShares

    package init(versions: TrafficShares) { self.versions = versions }

    /// Reads and checks a request.
    package init(parsing body: JSONValue) throws(AdminError) {
        guard let request = SplitRequest(body) else { throw .invalid("versions must be an object such as {\"5\": 90, \"6\": 10}") }
        self = request
    }
}

/// The answer to an act on one function.
package struct FunctionAnswer: AdminMessage {
    package var function: String
    /// The version with most calls before and after a rollback.
    package var from: Int?
    package var to: Int?
    /// The shares after a split.
    package var traffic: TrafficShares?
    /// The revision after it.
    package var revision: Int

    package init(function: String, revision: Int) {
        self.function = function
        self.revision = revision
    }
}

// MARK: Events by hand

/// `POST functions/NAME:invoke`: a synthetic event for an event function.
package struct SyntheticEvent: AdminMessage {
    /// The value before the write; null for none.
    package var before = JSONValue.null
    /// The value after the write; null for none.
    package var after = JSONValue.null
    /// The values of the wildcards in the function's path.
    package var params = JSONObject()
    /// `admin`, `app_user` or `unauthenticated`.
    package var authType = "admin"
    /// The uid of an `app_user`.
    package var authId: String?
    /// The name of the database; nil for the project's own.
    package var instance: String?

    /// An event from nothing to nothing.
    package init() {}

    /// Reads a request; members that are absent or have another type have their defaults.
    package init(parsing body: JSONValue) throws(AdminError) {
        guard body.isNull || body.object != nil else { throw .invalid("the body must be an object with before, after and params") }
        before = body["before"] ?? .null
        after = body["after"] ?? .null
        params = body["params"]?.object ?? [:]
        authType = body["authType"]?.string ?? authType
        authId = body["authId"]?.string
        instance = body["instance"]?.string
    }
}

/// The outcome of a synthetic event.
package struct SyntheticEventAnswer: Sendable {
    /// The event's id.
    package var event: String
    /// The function's error; nil if it succeeded.
    package var error: String?

    package init(event: String, error: String?) {
        self.event = event
        self.error = error
    }

    /// - Returns: nil if the answer has another form.
    package init?(_ json: JSONValue) {
        guard let event = json["event"]?.string else { return nil }
        self.init(event: event, error: json["error"].flatMap { $0.isNull ? nil : $0.string ?? $0.description })
    }

    /// The answer as JSON, with `error` null after a success.
    package var json: JSONValue { ["event": .string(event), "error": error.map { .string($0) } ?? .null] }
}
