import HearthJSON

extension JSONPiece {
    /// The path's keys, without the escapes of JSON.
    public var keys: [String] {
        guard !path.isEmpty else { return [] }
        return path.split(separator: UInt8(ascii: "/")).map { key in
            let quoted = [UInt8(ascii: "\"")] + key + [UInt8(ascii: "\"")]
            return (try? JSONValue(parsing: quoted))?.string ?? String(decoding: key, as: UTF8.self)
        }
    }
}
