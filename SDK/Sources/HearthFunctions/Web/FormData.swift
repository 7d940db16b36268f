/// The content of a page's form: `application/x-www-form-urlencoded`, or `multipart/form-data` with files.
public struct FormData: Sendable {
    /// A field that is text.
    public struct Field: Sendable, Equatable {
        /// The name of the field; several fields may have it.
        public var name: String
        /// The text.
        public var value: String
    }

    /// A file that a user has chosen.
    public struct File: Sendable, Equatable {
        /// The name of the field; several files may have it.
        public var name: String
        /// The name of the file at the client, without folders. Not to be trusted: it may be empty, the name of another file, or no name that a file
        /// system allows.
        public var fileName: String
        /// The content type that the client states. Not to be trusted.
        public var contentType: String?
        /// The content.
        public var bytes: [UInt8]
    }

    /// The fields, in the order sent.
    public internal(set) var fields: [Field] = []
    /// The files, in the order sent.
    public internal(set) var files: [File] = []

    /// The text of the first field with a name; nil if there is none.
    public subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The texts of all fields with a name, in the order sent.
    public func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The first file of a field; nil if there is none.
    public func file(_ name: String) -> File? { files.first { $0.name == name } }
}

extension Request {
    /// The form in the body.
    ///
    /// - Parameter partsMax: the most fields and files.
    /// - Throws: `invalid-argument` where the content type is not that of a form, or the body is not one; the message says where and why.
    public func form(partsMax: Int = 1000) throws(HttpsError) -> FormData {
        let types = headers.all("content-type")
        guard types.count == 1, let type = types.first.flatMap(HeaderValue.init) else {
            throw HttpsError(.invalidArgument, "A form needs one header Content-Type.")
        }
        switch type.value {
        case "application/x-www-form-urlencoded": return try .init(encoded: text, partsMax: partsMax)
        case "multipart/form-data":
            guard let boundary = type.parameters["boundary"] else {
                throw HttpsError(.invalidArgument, "The header Content-Type names no boundary.")
            }
            return try MultipartReader.read(body, boundary: boundary, partsMax: partsMax)
        default:
            throw HttpsError(
                .invalidArgument,
                "The body is \(type.value); a form is application/x-www-form-urlencoded or multipart/form-data.")
        }
    }
}

extension FormData {
    fileprivate init(encoded text: String, partsMax: Int) throws(HttpsError) {
        let parts = text.utf8.reduce(text.isEmpty ? 0 : 1) { $0 + ($1 == UInt8(ascii: "&") ? 1 : 0) }
        guard parts <= partsMax else { throw HttpsError(.invalidArgument, "The form has \(parts) fields; \(partsMax) are the most.") }
        fields = QueryItem.parse(text).map { Field(name: $0.name, value: $0.value) }
    }
}

/// The value of a header field with parameters: `multipart/form-data; boundary="x"` (RFC 9110, section 5.6.6).
struct HeaderValue: Equatable {
    /// In lower case.
    var value: String
    /// Names in lower case.
    var parameters: [String: String] = [:]

    /// Nil for a parameter that is malformed or occurs twice.
    init?(_ text: String) {
        var rest = text.utf8[...]
        value = Self.trimmed(rest.prefix { $0 != UInt8(ascii: ";") }).lowercased()
        rest = rest.drop { $0 != UInt8(ascii: ";") }
        while rest.popFirst() != nil {
            rest = rest.drop(while: \.isBlank)
            if rest.isEmpty || rest.first == UInt8(ascii: ";") { continue }
            let name = Self.trimmed(rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }).lowercased()
            rest = rest.drop { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
            guard rest.popFirst() == UInt8(ascii: "="), !name.isEmpty, let value = Self.parameter(&rest) else { return nil }
            guard parameters.updateValue(value, forKey: name) == nil else { return nil }
        }
    }

    /// Reads a token or a quoted text, up to the next semicolon.
    private static func parameter(_ rest: inout Substring.UTF8View) -> String? {
        guard rest.first == UInt8(ascii: "\"") else {
            let token = rest.prefix { $0 != UInt8(ascii: ";") }
            rest = rest.dropFirst(token.count)
            let text = trimmed(token)
            return text.isEmpty ? nil : text
        }
        rest.removeFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") {
                rest = rest.drop(while: \.isBlank)
                guard rest.isEmpty || rest.first == UInt8(ascii: ";") else { return nil }
                return String(decoding: bytes, as: UTF8.self)
            }
            // Browsers write a backslash in a file's name as it is. Before other characters than these two, it stands for itself.
            if byte == UInt8(ascii: "\\"), let next = rest.first, next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") {
                rest.removeFirst()
                bytes.append(next)
            } else {
                bytes.append(byte)
            }
        }
        return nil
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        let start = text.drop(while: \.isBlank)
        let end = start.lastIndex { !$0.isBlank }.map { start.index(after: $0) } ?? start.startIndex
        return String(Substring(start[..<end]))
    }
}

extension UInt8 {
    /// Whether it is a space or a tab.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
