package import HearthJSON

/// A request or an answer of the admin API (docs/admin-api.md): one definition for the host and for its clients.
///
/// A member that is nil is absent in JSON. A reader ignores members that it does not know.
package protocol AdminMessage: Codable, Sendable {}

extension AdminMessage {
    /// The message as JSON.
    package var json: JSONValue {
        // Messages consist of texts, numbers and JSON, which can all be encoded.
        (try? JSONEncoder().encodeValue(self)) ?? .null
    }

    /// Reads a message.
    ///
    /// - Returns: nil if a member is missing or has another type.
    package init?(_ json: JSONValue) {
        guard let message = try? JSONDecoder().decode(Self.self, from: json) else { return nil }
        self = message
    }
}

/// The path of the admin API; everything else is below it.
package enum AdminPath {
    package static let root = "/_/api"
}

/// The answer to a request that acts on several things: their number.
package struct CountAnswer: AdminMessage {
    package var count: Int

    package init(count: Int) { self.count = count }
}
