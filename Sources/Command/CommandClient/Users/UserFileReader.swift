import HearthBytes
import HearthJSON

/// The formats of files with users, which are those of the Firebase tools.
public enum UserFileFormat: String, Sendable, CaseIterable {
    /// `{"users": [{...}, ...]}`, or the array alone.
    case json
    /// A user per line (RFC 4180), in 28 columns without a heading.
    case csv

    /// The format of a file by its name; nil if the name does not tell.
    public init?(fileName: String) {
        guard let format = Self.allCases.first(where: { fileName.lowercased().hasSuffix(".\($0.rawValue)") }) else { return nil }
        self = format
    }
}

/// A user of a file.
public struct UserRow: Sendable {
    /// The position among the users of the file, from 1.
    public let number: Int
    /// The line at which it begins, from 1.
    public let line: Int
    /// The fields in the names of the protocol, or the reason why they cannot be read.
    public let content: Result<JSONObject, UserRowFault>
}

/// The reason why a user of a file is not imported.
public struct UserRowFault: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
    /// The user's id, if it could be read.
    public let uid: String?

    init(_ description: String, uid: String? = nil) {
        self.description = description
        self.uid = uid
    }
}

/// The reason why a file is not one with users, and where.
public struct UserFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// From 1.
    public let line: Int
    public let message: String

    /// `LINE: MESSAGE`
    public var description: String { "\(line): \(message)" }
}

/// Reads the users of a file of any size, one after the other.
///
/// Text goes in through ``append(_:)``, users come out of ``next()``. Memory holds one user and the last appended text.
public struct UserFileReader: ~Copyable {
    /// The most bytes of a user.
    public static let rowBytesMax = 1 << 20

    private var window = ByteBuffer()
    private var isFinished = false
    /// Whether a byte order mark at the start was looked for.
    private var hasBegun = false
    private let format: UserFileFormat
    private var count = 0
    private var json = JSONUserScanner()
    private var csv = CSVRecordScanner()

    /// A reader at the start of a file.
    public init(_ format: UserFileFormat) { self.format = format }

    /// Appends the next part of the file.
    public mutating func append(_ bytes: Span<UInt8>) { window.append(bytes) }

    /// Marks the end of the file.
    public mutating func finish() { isFinished = true }

    /// The next user.
    ///
    /// - Returns: nil when more text is needed, or at the end after ``finish()``.
    /// - Throws: `UserFileError` if the rest of the file cannot be read.
    public mutating func next() throws(UserFileError) -> UserRow? {
        if !hasBegun {
            guard window.count >= 3 || isFinished else { return nil }
            hasBegun = true
            if window.count >= 3, window.bytes[0] == 0xEF, window.bytes[1] == 0xBB, window.bytes[2] == 0xBF { window.consume(3) }
        }
        switch format {
        case .json:
            guard let (start, text) = try json.next(&window, isFinished: isFinished) else { return nil }
            count += 1
            return UserRow(number: count, line: start, content: Self.user(json: text))
        case .csv:
            while let (start, fields) = try csv.next(&window, isFinished: isFinished) {
                // An empty line, such as the last one of some files.
                if fields.allSatisfy(\.isEmpty) { continue }
                count += 1
                return UserRow(number: count, line: start, content: CSVUser.user(fields))
            }
            return nil
        }
    }

    private static func user(json text: [UInt8]) -> Result<JSONObject, UserRowFault> {
        do throws(JSONError) {
            guard let object = try JSONValue(parsing: text.span, limits: JSONLimits(depthMax: 16)).object else {
                return .failure(UserRowFault("a user must be an object"))
            }
            return UserFields.checked(object)
        } catch {
            return .failure(UserRowFault("it is not JSON (\(error.message.prefix(1).lowercased())\(error.message.dropFirst().dropLast()))"))
        }
    }
}

/// Finds the objects of an array of users in JSON text that arrives in pieces.
struct JSONUserScanner {
    private enum State {
        case start, memberOrEnd, member, key, colon, value, skipped, afterMember, userOrEnd, user, inUser, afterUser, end
    }

    private var state = State.start
    private var isWrapped = false
    private var hasUsers = false
    private var line = 1
    /// Bytes of the window that were scanned.
    private var scanned = 0
    private var userLine = 1
    private var depth = 0
    private var isInText = false
    private var isEscaped = false
    private var keyStart = 0
    private var isUsersKey = false

    /// The text of the next user and its line; nil if more text is needed, or at the end.
    mutating func next(_ window: inout ByteBuffer, isFinished: Bool) throws(UserFileError) -> (line: Int, text: [UInt8])? {
        while scanned < window.count {
            let byte = window.bytes[scanned]
            if byte == UInt8(ascii: "\n") { line += 1 }
            let isSpace = byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
            if isSpace, state != .key, state != .inUser, state != .skipped {
                scanned += 1
                release(&window)
                continue
            }
            if try step(byte, window.bytes) {
                scanned += 1
                let text = window.bytes.extracting(0..<scanned).array()
                state = .afterUser
                release(&window)
                return (userLine, text)
            }
            scanned += 1
            if state == .inUser || state == .key {
                guard scanned <= UserFileReader.rowBytesMax else { throw error("this user has more than 1 MiB") }
            } else {
                release(&window)
            }
        }
        guard !isFinished || state == .end else {
            throw error(state == .start ? "the file is empty" : "the file ends before the list of users is complete")
        }
        return nil
    }

    private mutating func release(_ window: inout ByteBuffer) {
        window.consume(scanned)
        scanned = 0
    }

    /// Takes a byte. Returns whether it ends a user.
    private mutating func step(_ byte: UInt8, _ window: Span<UInt8>) throws(UserFileError) -> Bool {
        switch state {
        case .start: try begin(byte)
        case .memberOrEnd where byte == UInt8(ascii: "}"): try endObject()
        case .memberOrEnd, .member:
            guard byte == UInt8(ascii: "\"") else { throw error("a name in quotes is missing here") }
            (state, isEscaped, keyStart) = (.key, false, scanned)
        case .key: readKey(byte, window)
        case .colon:
            guard byte == UInt8(ascii: ":") else { throw error("a colon is missing here") }
            state = .value
        case .value: try beginValue(byte)
        case .skipped: try skip(byte)
        case .afterMember:
            if byte == UInt8(ascii: "}") {
                try endObject()
            } else {
                guard byte == UInt8(ascii: ",") else { throw error("a comma or the end of the object is missing here") }
                state = .member
            }
        case .userOrEnd where byte == UInt8(ascii: "]"): endArray()
        case .userOrEnd, .user:
            guard byte == UInt8(ascii: "{") else { throw error("a user must be an object, which begins with {") }
            (state, depth, isInText, userLine) = (.inUser, 1, false, line)
        case .inUser: return try scanUser(byte)
        case .afterUser:
            if byte == UInt8(ascii: "]") {
                endArray()
            } else {
                guard byte == UInt8(ascii: ",") else { throw error("a comma or the end of the list of users is missing here") }
                state = .user
            }
        case .end: throw error("there is more text after the users")
        }
        return false
    }

    private mutating func begin(_ byte: UInt8) throws(UserFileError) {
        switch byte {
        case UInt8(ascii: "["): (state, hasUsers) = (.userOrEnd, true)
        case UInt8(ascii: "{"): (state, isWrapped) = (.memberOrEnd, true)
        default: throw error("the file must begin with {\"users\": [ or with [")
        }
    }

    private mutating func readKey(_ byte: UInt8, _ window: Span<UInt8>) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isUsersKey = window.extracting((keyStart + 1)..<scanned).equals("users")
            state = .colon
        }
    }

    private mutating func beginValue(_ byte: UInt8) throws(UserFileError) {
        guard !isUsersKey else {
            guard byte == UInt8(ascii: "["), !hasUsers else {
                throw error(hasUsers ? "the member users appears twice" : "the member users must be an array")
            }
            (state, hasUsers) = (.userOrEnd, true)
            return
        }
        (state, depth, isInText, isEscaped) = (.skipped, 0, false, false)
        try skip(byte)
    }

    /// Skips the value of another member.
    private mutating func skip(_ byte: UInt8) throws(UserFileError) {
        if isInText { return scanText(byte) }
        switch byte {
        case UInt8(ascii: "\""): isInText = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "]") where depth > 0, UInt8(ascii: "}") where depth > 0: depth -= 1
        case UInt8(ascii: ",") where depth == 0: state = .member
        case UInt8(ascii: "}"): try endObject()
        case UInt8(ascii: "]"): throw error("a closing bracket has no opening one")
        default: break
        }
    }

    private mutating func scanText(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInText = false
        }
    }

    private mutating func scanUser(_ byte: UInt8) throws(UserFileError) -> Bool {
        if isInText {
            scanText(byte)
            return false
        }
        switch byte {
        case UInt8(ascii: "\""): isInText = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        default: break
        }
        return depth == 0
    }

    private mutating func endArray() { state = isWrapped ? .afterMember : .end }

    private mutating func endObject() throws(UserFileError) {
        guard hasUsers else { throw error("the file has no member users") }
        state = .end
    }

    private func error(_ message: String) -> UserFileError { UserFileError(line: line, message: message) }
}

/// Splits CSV text that arrives in pieces into records (RFC 4180).
struct CSVRecordScanner {
    private var line = 1
    private var startLine = 1
    private var fields: [String] = []
    private var field: [UInt8] = []
    private var bytes = 0
    private var state = State.fieldStart
    /// Bytes of the window that were scanned.
    private var scanned = 0

    private enum State { case fieldStart, plain, quoted, quoteInQuoted }

    /// The most columns of a record.
    private static let columnsMax = 64

    /// The next record and its line; nil if more text is needed, or at the end.
    mutating func next(_ window: inout ByteBuffer, isFinished: Bool) throws(UserFileError) -> (line: Int, fields: [String])? {
        while scanned < window.count {
            let byte = window.bytes[scanned]
            scanned += 1
            if try take(byte) { return endRecord() }
        }
        window.clear()
        scanned = 0
        guard isFinished else { return nil }
        if state == .quoted { throw UserFileError(line: startLine, message: "a quoted field has no end") }
        guard !fields.isEmpty || !field.isEmpty || state != .fieldStart else { return nil }
        try endField()
        return endRecord()
    }

    /// Takes a byte. Returns whether it ends a record.
    private mutating func take(_ byte: UInt8) throws(UserFileError) -> Bool {
        bytes += 1
        guard bytes <= UserFileReader.rowBytesMax else { throw UserFileError(line: startLine, message: "this user has more than 1 MiB") }
        if byte == UInt8(ascii: "\n") { line += 1 }
        switch (state, byte) {
        case (.quoted, UInt8(ascii: "\"")): state = .quoteInQuoted
        case (.quoted, _): field.append(byte)
        case (.quoteInQuoted, UInt8(ascii: "\"")):
            field.append(byte)
            state = .quoted
        case (.fieldStart, UInt8(ascii: "\"")): state = .quoted
        case (_, UInt8(ascii: ",")):
            try endField()
            guard fields.count <= Self.columnsMax else { throw UserFileError(line: startLine, message: "this line has more than 64 columns") }
        case (_, UInt8(ascii: "\n")):
            try endField()
            return true
        case (_, UInt8(ascii: "\r")): break
        case (.quoteInQuoted, _): throw UserFileError(line: line, message: "there is text after the closing quote of a field")
        default:
            field.append(byte)
            state = .plain
        }
        return false
    }

    private mutating func endField() throws(UserFileError) {
        guard let text = String(validating: field, as: UTF8.self) else { throw UserFileError(line: startLine, message: "this line is not UTF-8") }
        fields.append(text)
        field.removeAll(keepingCapacity: true)
        state = .fieldStart
    }

    private mutating func endRecord() -> (line: Int, fields: [String]) {
        defer { (fields, bytes, startLine) = ([], 0, line) }
        return (startLine, fields)
    }
}
