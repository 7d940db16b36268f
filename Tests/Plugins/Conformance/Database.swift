import HearthFunctions

/// One call of the plugin library's database: {"do": "set", "at": "a/b", "value": ...} and so on. A refusal is a result too.
@Sendable func databaseStep(_ request: CallableRequest<JSONValue>) async throws -> JSONValue {
    let step = request.data
    if let pause = step["afterMilliseconds"]?.int { try await Task.sleep(for: .milliseconds(pause)) }
    do {
        return try await perform(step, at: place(of: step, request.auth))
    } catch let error as DatabaseError {
        return ["refused": .string(error.code.rawValue), "message": .string(error.message), "path": .string(error.path)]
    }
}

/// The path of a step, with the rights of the user that it names; without a name, those of an administrator.
func place(of step: JSONValue, _ caller: AuthData?) -> DatabaseReference {
    var all = database
    if let instance = step["instance"]?.string { all = all.instance(instance) }
    switch step["as"] {
    case "caller": all = all.acting(as: caller)
    case "nobody": all = all.acting(as: nil)
    case .string(let uid)?: all = all.acting(asUser: uid, claims: step["claims"] ?? [:])
    default: break
    }
    return all.reference(step["at"]?.string ?? "")
}

private func perform(_ step: JSONValue, at place: DatabaseReference) async throws -> JSONValue {
    let value = step["value"] ?? .null
    switch step["do"]?.string {
    case "set": try await place.setValue(value, andPriority: step["priority"])
    case "setPriority": try await place.setPriority(value)
    case "update": try await place.updateChildValues(value)
    case "remove": try await place.removeValue()
    case "push":
        let child = place.childByAutoID()
        try await child.setValue(value)
        return .string(child.key ?? "")
    case "get": return seen(try await query(step, at: place).getData())
    case "getTyped":
        let messages = try await query(step, at: place).getData(as: [String: Message].self)
        return .array(messages.values.map(\.text).sorted().map { .string($0) })
    case "increment": try await place.setValue(ServerValue.increment(value.int ?? 1))
    case "stamp": try await place.setValue(Stamped(text: "now"))
    case "transaction":
        let by = value.int ?? 1
        return JSONValue(try await place.runTransaction { (count: Int?) in (count ?? 0) + by } ?? 0)
    case "take":
        let outcome = try await place.runTransaction { (owner: JSONValue?) -> TransactionResult<JSONValue> in
            owner == nil ? .success(withValue: value) : .abort
        }
        return ["committed": .bool(outcome.isCommitted), "value": outcome.value ?? .null]
    case "race":
        try await withThrowingTaskGroup { group in
            for _ in 0..<(value.int ?? 1) {
                group.addTask { _ = try await place.runTransaction { (count: Int?) in (count ?? 0) + 1 } }
            }
            try await group.waitForAll()
        }
    case "bulk":
        // So many MiB in pieces of 1 MiB.
        let piece = String(repeating: "x", count: 1 << 20)
        try await place.setValue([String](repeating: piece, count: value.int ?? 1))
    case "raw": return try await services.call("database", step["method"]?.string ?? "", value)
    default: throw HttpsError(.invalidArgument, "no such step")
    }
    return .null
}

/// A snapshot as the tests read it.
func seen(_ snapshot: DataSnapshot) -> JSONValue {
    [
        "value": snapshot.value, "exists": .bool(snapshot.exists()), "priority": snapshot.priority ?? .null,
        "keys": .array(snapshot.children.map { .string($0.key ?? "") }),
    ]
}

func query(_ step: JSONValue, at place: DatabaseReference) -> DatabaseQuery {
    var query = place.query
    if let path = step["byChild"]?.string { query = query.queryOrdered(byChild: path) }
    if step["byKey"] == true { query = query.queryOrderedByKey() }
    if step["byValue"] == true { query = query.queryOrderedByValue() }
    if step["byPriority"] == true { query = query.queryOrderedByPriority() }
    if let value = step["startAt"] { query = query.queryStarting(atValue: value, childKey: step["startKey"]?.string) }
    if let value = step["startAfter"] { query = query.queryStarting(afterValue: value, childKey: step["startKey"]?.string) }
    if let value = step["endAt"] { query = query.queryEnding(atValue: value, childKey: step["endKey"]?.string) }
    if let value = step["endBefore"] { query = query.queryEnding(beforeValue: value) }
    if let value = step["equalTo"] { query = query.queryEqual(toValue: value) }
    if let count = step["first"]?.int { query = query.queryLimited(toFirst: count) }
    if let count = step["last"]?.int { query = query.queryLimited(toLast: count) }
    return query
}

struct Message: Codable {
    var text: String
}

struct Stamped: Encodable {
    var text: String
    var at = ServerValue.timestamp
    var count = ServerValue.increment(2)
}
