/// What the host tells of an event beside its values: the member "event" of the context, as `hearth.h` describes it.
struct EventHead {
    private let members: JSONValue

    init(_ context: CallContext) { members = context.event ?? [:] }

    var id: String { text("id") ?? "" }
    var time: String { text("time") ?? "" }
    var instance: String { text("instance") ?? "" }
    var location: String { text("location") ?? "" }
    var authType: String { text("authType") ?? "" }
    var authID: String? { text("authId") }

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
