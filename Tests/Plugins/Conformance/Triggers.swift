import HearthFunctions

/// Functions that run on writes below /watched and record their input below /noted, and some that misbehave.
@FunctionsBuilder var triggers: [FunctionDefinition] {
    OnValueCreated("noteCreated", ref: "/watched/{id}") { event in
        try await note("created", event, before: nil, after: event.data)
    }
    OnValueUpdated("noteUpdated", ref: "/watched/{id}") { event in
        try await note("updated", event, before: event.data.before, after: event.data.after)
    }
    OnValueDeleted("noteDeleted", ref: "/watched/{id}") { event in
        try await note("deleted", event, before: event.data, after: nil)
    }
    OnValueWritten("noteWritten", ref: "/watched/{id}") { event in
        try await note("written", event, before: event.data.before, after: event.data.after)
    }
    OnValueWritten("noteDeep", ref: "/deep/{rest=**}") { event in
        try await note("deep", event, before: event.data.before, after: event.data.after)
    }
    OnValueCreated("noteArchived", ref: "/watched/{id}", instance: "archive-*") { event in
        try await note("archived", event, before: nil, after: event.data)
    }
    OnValueWritten("addTyped", ref: "/typed/{id}/numbers") { (event: DatabaseEvent<Change<[Int]?>>) in
        try await event.ref.parent?.child("sum").setValue((event.data.after ?? []).reduce(0, +))
    }
    OnValueCreated("failTyped", ref: "/mistyped/{id}") { (_: DatabaseEvent<Message>) in }
    OnValueWritten("countForEver", ref: "/loop/{id}") { (event: DatabaseEvent<Change<Int?>>) in
        try await event.ref.setValue((event.data.after ?? 0) + 1)
    }
    OnValueCreated("workSlowly", ref: "/slow/{id}") { event in
        let place = event.ref.root.child("worked/\(event.params["id"] ?? "")")
        try await place.child("begun/\(event.id)").setValue(ServerValue.increment(1))
        try await Task.sleep(for: .milliseconds(event.data.value.int ?? 0))
        try await place.child("ended/\(event.id)").setValue(ServerValue.increment(1))
    }
    OnValueCreated("failFirst", ref: "/flaky/{id}", retry: true) { event in
        try await event.ref.root.child("flakes/\(event.params["id"] ?? "")").setValue(["attempt": JSONValue(event.attempt), "id": .string(event.id)])
        if event.attempt < 3 { throw HttpsError(.unavailable, "not yet") }
    }
    OnValueCreated("countAsUser", ref: "/counted/{id}") { event in
        let user = event.ref.database.acting(asUser: event.authID ?? "")
        try await user.reference("own/\(event.authID ?? "")/counted").setValue(ServerValue.increment(1))
    }
}

/// Records the input of a function, under the event's id.
private func note<Data>(_ kind: String, _ event: DatabaseEvent<Data>, before: DataSnapshot?, after: DataSnapshot?) async throws {
    var told: JSONValue = [
        "ref": .string(event.ref.path), "instance": .string(event.instance), "authType": .string(event.authType.rawValue),
        "time": .string(event.time), "attempts": ServerValue.increment(1),
    ]
    told["authID"] = event.authID.map { .string($0) }
    told["params"] = .object(JSONObject(unordered: event.params.mapValues { .string($0) }))
    told["before"] = before?.value
    told["after"] = after?.value
    try await event.ref.root.child("noted/\(kind)/\(event.id)").setValue(told)
}
