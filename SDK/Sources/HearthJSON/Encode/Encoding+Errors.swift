extension Encoding {
    /// The error for a value that cannot be written where one is due, or under `key`.
    @inline(never)
    func invalid(_ value: Any, _ description: String, at key: (any CodingKey)? = nil) -> EncodingError {
        let path = key.map { self.path + [$0] } ?? path(isDue: true)
        return .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: description))
    }

    /// The error for a container or encoder that is used although another one is open, or none.
    @inline(never)
    func stale() -> EncodingError {
        .invalidValue((), EncodingError.Context(codingPath: path, debugDescription: "This container or encoder is not the one that is open."))
    }

    /// Keeps the first failure of a call that cannot throw, for the end of the whole.
    @inline(never)
    func noteStale() {
        var top = self
        while let place = top.text.pointee.place { top = place.parent }
        if top.text.pointee.failure == nil { top.text.pointee.failure = stale() }
    }
}
