/// Reads `multipart/form-data` (RFC 7578; the frame of parts is that of RFC 2046, section 5.1).
struct MultipartReader {
    /// The most bytes of the headers of a part, and of a boundary.
    private static let headBytesMax = 8 * 1024
    private static let boundaryBytesMax = 70

    private let body: [UInt8]
    private let delimiter: [UInt8]
    private let partsMax: Int
    private var position = 0
    private var parts = 0
    private var form = FormData()

    private init(_ body: [UInt8], _ boundary: String, partsMax: Int) {
        self.body = body
        delimiter = Array("--\(boundary)".utf8)
        self.partsMax = partsMax
    }

    /// - Throws: `invalid-argument` with the number of the part that is malformed.
    static func read(_ body: [UInt8], boundary: String, partsMax: Int) throws(HttpsError) -> FormData {
        guard (1...boundaryBytesMax).contains(boundary.utf8.count) else {
            throw HttpsError(.invalidArgument, "The boundary has \(boundary.utf8.count) bytes; 1 to \(boundaryBytesMax) are allowed.")
        }
        var reader = MultipartReader(body, boundary, partsMax: partsMax)
        return try reader.read()
    }

    private mutating func read() throws(HttpsError) -> FormData {
        guard var isLast = findFirstDelimiter() else { throw refusal("has no line with the boundary") }
        while !isLast {
            parts += 1
            guard parts <= partsMax else { throw refusal("has more than \(partsMax) parts") }
            let head = try readHead()
            guard let (content, last) = readContent() else { throw refusal("ends within part \(parts)") }
            try add(head, body[content])
            isLast = last
        }
        return form
    }

    private func refusal(_ text: String) -> HttpsError { HttpsError(.invalidArgument, "The form \(text).") }

    // MARK: Delimiters

    /// Moves behind the first delimiter, which may follow text that is to be ignored. Returns whether it is the last one; nil if there is none.
    private mutating func findFirstDelimiter() -> Bool? {
        if let (end, isLast) = delimiter(at: 0) {
            position = end
            return isLast
        }
        return readContent()?.isLast
    }

    /// The end of a delimiter and of its line, and whether it is the last one; nil if there is none at `start`.
    private func delimiter(at start: Int) -> (end: Int, isLast: Bool)? {
        guard start + delimiter.count <= body.count, body[start..<start + delimiter.count].elementsEqual(delimiter) else { return nil }
        var next = start + delimiter.count
        if next + 1 < body.count, body[next] == UInt8(ascii: "-"), body[next + 1] == UInt8(ascii: "-") { return (next + 2, true) }
        while next < body.count, body[next].isBlank { next += 1 }
        return isLineEnd(at: next) ? (next + 2, false) : nil
    }

    private func isLineEnd(at index: Int) -> Bool { index + 1 < body.count && body[index] == 13 && body[index + 1] == 10 }

    /// The content up to the next delimiter, behind which it moves; nil if there is none.
    private mutating func readContent() -> (content: Range<Int>, isLast: Bool)? {
        var index = position
        while index < body.count {
            if isLineEnd(at: index), let (end, isLast) = delimiter(at: index + 2) {
                let content = position..<index
                position = end
                return (content, isLast)
            }
            index += 1
        }
        return nil
    }

    // MARK: Parts

    /// The headers of a part.
    private struct Head {
        var name: String?
        var fileName: String?
        var contentType: String?
    }

    /// Reads the headers of a part, up to the empty line. The line's end stays, because an empty content begins with the delimiter's own.
    private mutating func readHead() throws(HttpsError) -> Head {
        var head = Head()
        let start = position
        while !isLineEnd(at: position) {
            guard let end = lineEnd(from: position, within: start + Self.headBytesMax) else {
                throw refusal("has a part \(parts) whose headers do not end within \(Self.headBytesMax) bytes")
            }
            try read(String(decoding: body[position..<end], as: UTF8.self), into: &head)
            position = end + 2
        }
        // An empty content has no line of its own before the delimiter.
        position += delimiter(at: position + 2) == nil ? 2 : 0
        return head
    }

    private func lineEnd(from start: Int, within limit: Int) -> Int? {
        var index = start
        while index < min(body.count, limit) {
            if isLineEnd(at: index) { return index }
            index += 1
        }
        return nil
    }

    private func read(_ line: String, into head: inout Head) throws(HttpsError) {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw refusal("has a part \(parts) with a header line without a colon") }
        let text = String(line[line.utf8.index(after: colon)...])
        switch line[..<colon].lowercased() {
        case "content-disposition":
            guard head.name == nil, let value = HeaderValue(text), value.value == "form-data", let name = value.parameters["name"] else {
                throw refusal("has a part \(parts) whose Content-Disposition is not one \"form-data\" with a name")
            }
            head.name = Self.unescaped(name)
            head.fileName = value.parameters["filename"].map(Self.lastPart)
        case "content-type":
            head.contentType = String(text.drop { $0 == " " || $0 == "\t" })
        case "content-transfer-encoding":
            guard let value = HeaderValue(text)?.value, ["7bit", "8bit", "binary"].contains(value) else {
                throw refusal("has a part \(parts) with a Content-Transfer-Encoding that forms do not have")
            }
        default: break
        }
    }

    /// Browsers write these three characters in names so.
    private static func unescaped(_ name: String) -> String {
        name.replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
    }

    private static func lastPart(_ fileName: String) -> String {
        let name = unescaped(fileName)
        let start = name.lastIndex { $0 == "/" || $0 == "\\" }.map { name.index(after: $0) } ?? name.startIndex
        return String(name[start...])
    }

    private mutating func add(_ head: Head, _ content: ArraySlice<UInt8>) throws(HttpsError) {
        guard let name = head.name else { throw refusal("has a part \(parts) without a Content-Disposition") }
        if let fileName = head.fileName {
            // A file field in which nothing was chosen is sent so.
            if fileName.isEmpty, content.isEmpty { return }
            form.files.append(FormData.File(name: name, fileName: fileName, contentType: head.contentType, bytes: Array(content)))
        } else {
            guard let value = String(validating: content, as: UTF8.self) else { throw refusal("has a part \(parts) whose text is not UTF-8") }
            form.fields.append(FormData.Field(name: name, value: value))
        }
    }
}
