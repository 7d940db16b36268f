extension Document {
    /// The way from the top of the text to the entry at `target`.
    ///
    /// Nobody keeps paths while decoding goes well: this walks down the tape, at a cost that only an error pays.
    func path(to target: Int) -> [any CodingKey] {
        guard isLive else { return [] }
        var path: [any CodingKey] = []
        var current = 0
        while current < target, target < Int(token(current).next), let step = step(from: current, towards: target) {
            path.append(step.key)
            current = step.value
        }
        return path
    }

    private func step(from container: Int, towards target: Int) -> (key: JSONKey, value: Int)? {
        let isObject = token(container).isKind(.object)
        var child = container + 1
        var index = 0
        while child < Int(token(container).next) {
            let value = isObject ? child + 1 : child
            if target < Int(token(value).next) {
                guard isObject else { return (JSONKey(index: index), value) }
                return (JSONKey(keyText(child).string), value)
            }
            child = Int(token(value).next)
            index += 1
        }
        return nil
    }

    func context(at index: Int, _ description: String) -> DecodingError.Context {
        DecodingError.Context(codingPath: path(to: index), debugDescription: description)
    }

    /// The error for an entry that is not what `type` is made of.
    @inline(never)
    func mismatch(_ type: Any.Type, at index: Int) -> DecodingError {
        let kind = token(index).kind
        if kind == .null {
            return .valueNotFound(type, context(at: index, "Expected \(type), found null."))
        }
        return .typeMismatch(type, context(at: index, "Expected \(type), found \(kind)."))
    }
}
