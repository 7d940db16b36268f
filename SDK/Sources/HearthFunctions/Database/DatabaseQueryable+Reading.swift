extension DatabaseQueryable {
    /// What is there now.
    public func getData() async throws(DatabaseError) -> DataSnapshot {
        let answer = try query.ref.decode(ValueAnswer<JSONValue>.self, from: try await get(form: "export"))
        return DataSnapshot(query.ref, exported: answer.value, order: query.isWhole ? nil : query.order ?? .priority)
    }

    /// What is there now, as a value of type `T`; of an optional type where there may be nothing.
    ///
    ///     let topic = try await room.child("topic").getData(as: String?.self) ?? "none"
    ///
    /// - Throws: `DatabaseError`: `notFound` where there is nothing, `typeMismatch` where there is something else.
    public func getData<T: Decodable>(as type: T.Type) async throws(DatabaseError) -> T {
        try query.ref.decode(ValueAnswer<T>.self, from: try await get(form: "value")).value
    }

    private func get(form: JSONValue) async throws(DatabaseError) -> [UInt8] {
        let query = query
        if let problem = query.problem { throw DatabaseError(.invalidArgument, problem, path: query.ref.path) }
        var call = DatabaseCall("get", at: query.ref)
        call.add("form", form)
        if let payload = query.payload { call.add("query", payload) }
        return try await call.send()
    }
}
