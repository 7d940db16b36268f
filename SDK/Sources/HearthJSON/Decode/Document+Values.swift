extension Document {
    /// The value of any type at an entry; those that JSON has itself are taken without a decoder.
    @inline(__always)
    func value<T: Decodable>(_ type: T.Type, at index: Int) throws -> T {
        if let plain = try plainValue(type, at: index) { return plain }
        return try T(from: DecoderNode(document: self, token: index))
    }

    @inline(__always)
    private func plainValue<T: Decodable>(_ type: T.Type, at index: Int) throws -> T? {
        if token(index).isKind(.array) { return try plainArray(type, at: index) }
        if T.self == JSONValue.self { return tree(at: index) as? T }
        if T.self == String.self { return try string(at: index) as? T }
        if T.self == Double.self { return try double(at: index) as? T }
        if T.self == Int.self { return try integer(Int.self, at: index) as? T }
        if T.self == Bool.self { return try bool(at: index) as? T }
        return nil
    }

    private func plainArray<T: Decodable>(_ type: T.Type, at index: Int) throws -> T? {
        if T.self == [String].self { return try elements(of: index, string) as? T }
        if T.self == [Double].self { return try elements(of: index, double) as? T }
        if T.self == [Int].self { return try elements(of: index) { try integer(Int.self, at: $0) } as? T }
        if T.self == JSONValue.self { return tree(at: index) as? T }
        return nil
    }

    @inline(__always)
    private func elements<E, F: Error>(of array: Int, _ element: (Int) throws(F) -> E) throws(F) -> [E] {
        let token = token(array)
        var elements: [E] = []
        elements.reserveCapacity(Int(token.extent))
        var child = array + 1
        while child < Int(token.next) {
            elements.append(try element(child))
            child = Int(self.token(child).next)
        }
        return elements
    }

    /// The entry and everything in it as a tree.
    func tree(at index: Int) -> JSONValue {
        let token = token(index)
        switch token.kind {
        case .null: return .null
        case .bool: return .bool(token.isFlagged)
        case .number: return number(token)
        case .string, .key: return .string(text(token))
        case .array:
            return .array(elements(of: index, tree))
        case .object:
            var object = JSONObject(minimumCapacity: Int(token.extent))
            var child = index + 1
            while child < Int(token.next) {
                object[text(self.token(child))] = tree(at: child + 1)
                child = Int(self.token(child + 1).next)
            }
            return .object(object)
        }
    }

    private func number(_ token: Token) -> JSONValue {
        let text = NumberText(base + Int(token.start), count: token.length)
        guard token.isFlagged, let (magnitude, isNegative) = text.integer else { return .double(text.double()) }
        if !isNegative { return magnitude > UInt64(Int64.max) ? .uint(magnitude) : .int(Int64(magnitude)) }
        // A whole number has no negative zero; a double has.
        guard magnitude > 0, magnitude <= 1 << 63 else { return .double(text.double()) }
        return .int(Int64(truncatingIfNeeded: 0 &- magnitude))
    }
}
