/// Header fields of a request or an answer, in order. Names are compared without regard to case.
///
///     let headers: Headers = ["content-type": "text/plain"]
///     headers["Content-Type"]    // "text/plain"
public struct Headers: Sendable, Equatable, Sequence, ExpressibleByDictionaryLiteral {
    /// One field.
    public struct Field: Sendable, Equatable {
        /// As sent; compared without regard to case.
        public var name: String
        /// The value.
        public var value: String
    }

    var fields: [Field]

    /// Fields in the order written. A name may occur several times.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// Makes fields of name, value, name, value, the host's form.
    init(alternating texts: [JSONValue]) {
        fields = stride(from: 0, to: texts.count - 1, by: 2).map {
            Field(name: texts[$0].string ?? "", value: texts[$0 + 1].string ?? "")
        }
    }

    /// Iterates over the fields in their order.
    public func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }

    /// The number of fields.
    public var count: Int { fields.count }

    /// The first field of this name. Setting it replaces all of that name; nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { $0.isNamed(name) }?.value }
        set {
            fields.removeAll { $0.isNamed(name) }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// Every value of this name, in order.
    public func all(_ name: String) -> [String] { fields.filter { $0.isNamed(name) }.map(\.value) }

    /// Adds a field beside those of the same name, as `set-cookie` needs it.
    public mutating func append(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }
}

extension Headers.Field {
    fileprivate func isNamed(_ other: String) -> Bool {
        name.utf8.count == other.utf8.count && zip(name.utf8, other.utf8).allSatisfy { $0.asciiLowercase == $1.asciiLowercase }
    }
}

extension UInt8 {
    fileprivate var asciiLowercase: UInt8 { self &- 65 < 26 ? self | 0x20 : self }
}
