// Each of these returns when the write is durable, or throws and nothing has been written.
extension DatabaseReference {
    /// Replaces what is here, children included. A value that is null, or holds nothing but nulls, removes it.
    ///
    /// - Parameters:
    ///   - value: any `Encodable`; `ServerValue`s in it are filled in by the database.
    ///   - priority: a number or a text that children are ordered by in queries that ask for no other order.
    public func setValue(_ value: some Encodable, andPriority priority: JSONValue? = nil) async throws(DatabaseError) {
        var call = DatabaseCall("set", at: self)
        try call.add("value", encoding: value)
        if let priority { call.add("priority", priority) }
        _ = try await call.send()
    }

    /// The same with a value written down as JSON: `setValue(["text": "hello", "likes": 0])`. `nil` removes what is here.
    public func setValue(_ value: JSONValue, andPriority priority: JSONValue? = nil) async throws(DatabaseError) {
        var call = DatabaseCall("set", at: self)
        call.add("value", value)
        if let priority { call.add("priority", priority) }
        _ = try await call.send()
    }

    /// Replaces the priority of what is here and leaves the value; nil removes it. Does nothing where there is no value.
    public func setPriority(_ priority: JSONValue) async throws(DatabaseError) {
        var call = DatabaseCall("setPriority", at: self)
        call.add("priority", priority)
        _ = try await call.send()
    }

    /// Replaces the values that `values` names and leaves everything else, all of it at once or nothing.
    ///
    ///     try await database.reference().updateChildValues([
    ///         "posts/\(key)": ["author": uid, "text": text],
    ///         "users/\(uid)/posts/\(key)": true,
    ///     ])
    ///
    /// - Parameter values: an object. Its names may be paths below this place; no name may lie below another. Null removes.
    public func updateChildValues(_ values: some Encodable) async throws(DatabaseError) {
        var call = DatabaseCall("update", at: self)
        try call.add("value", encoding: values)
        _ = try await call.send()
    }

    /// The same with values written down as JSON.
    public func updateChildValues(_ values: JSONValue) async throws(DatabaseError) {
        var call = DatabaseCall("update", at: self)
        call.add("value", values)
        _ = try await call.send()
    }

    /// Removes what is here, children included, however many there are.
    public func removeValue() async throws(DatabaseError) {
        _ = try await DatabaseCall("remove", at: self).send()
    }
}
