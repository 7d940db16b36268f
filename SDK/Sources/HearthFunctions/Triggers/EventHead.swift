internal import HearthJSON

/// What the host tells of an event beside its values: the member "event" of the context, as `hearth.h` describes it.
struct EventHead {
    private let members: JSONValue

    /// Whether the host did not keep the event's values.
    let isTruncated: Bool

    init(_ invocation: Invocation) {
        members = invocation.context.event ?? [:]
        isTruncated = invocation.withPayload { Self.saysTruncated($0) }
    }

    /// `{"truncated":true}`. What has values is longer, and is not read for this.
    private static func saysTruncated(_ payload: Span<UInt8>) -> Bool {
        guard payload.count < 64, let value = try? JSONValue(parsing: payload) else { return false }
        return value["truncated"] == true
    }

    var id: String { text("id") ?? "" }
    var time: String { text("time") ?? "" }
    var instance: String { text("instance") ?? "" }
    var location: String { text("location") ?? "" }
    var authType: String { text("authType") ?? "" }
    var authID: String? { text("authId") }
    var attempt: Int { members["attempt"]?.int ?? 1 }

    var ref: DatabaseReference {
        let all = instance.isEmpty ? database : database.instance(instance)
        return all.reference(text("ref") ?? "")
    }

    var params: [String: String] {
        var params: [String: String] = [:]
        for (name, value) in members["params"]?.object ?? [:] { params[name] = value.string }
        return params
    }

    private func text(_ name: String) -> String? { members[name]?.string }
}
