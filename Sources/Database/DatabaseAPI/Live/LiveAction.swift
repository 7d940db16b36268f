import HearthBytes
import HearthJSON
import RealtimeDatabase
import Tree

/// A request of a client, parsed (spec database 3.4).
enum LiveAction: Sendable {
    case listen(LivePlace, hash: String, tag: Int?)
    case unlisten(LivePlace)
    case get(LivePlace)
    case write(LiveWrite)
    case disconnect(DisconnectOperation)
    case authenticate(LiveCredential)
    case unauthenticate
    case appCheck(token: [UInt8])
    /// The end of the App Check token.
    case endAppCheck
    /// Statistics: nothing has to be done.
    case nothing
    /// An invalid request.
    case refused(LiveRefusal)

    /// Requests of one group run at the same time. A request of another group waits until all earlier ones are complete.
    enum Group {
        /// Writes reach the database in order, so many of them may be under way.
        case write
        /// The same holds for reads: their results are in the answers.
        case read
        /// Runs alone: it changes what later requests may do, or must not be overtaken. A listen runs alone because clients need the values in the
        /// order of their listens: one that has a part of a query's result, from a listen below, shows that part as the result.
        case alone
    }

    var group: Group {
        switch self {
        // A condition is checked when its client has a turn, and later writes would not wait for that.
        case .write(let write): write.hash == nil ? .write : .alone
        case .disconnect: .write
        case .unlisten, .get, .nothing, .refused: .read
        case .listen, .authenticate, .unauthenticate, .appCheck, .endAppCheck: .alone
        }
    }

    /// Whether a client needs a valid App Check token for it, where App Check is enforced.
    var needsApp: Bool {
        switch self {
        case .listen, .get, .write, .disconnect: true
        case .unlisten, .authenticate, .unauthenticate, .appCheck, .endAppCheck, .nothing, .refused: false
        }
    }
}

/// A place to read, with its query.
struct LivePlace: Sendable {
    /// Nil for `.info` and below, which exists in clients only.
    var path: Path?
    var query: LiveQuery
    /// For a listen, hashes of the ranges of the value that the client has; nil for none.
    var ranges: RangeHashes?
}

/// A put or a merge.
struct LiveWrite: Sendable {
    var operation: WriteRequest.Operation
    /// The hash that the node must have; nil for any.
    var hash: String?
    var leaves: Int
    var bytes: Int
    var isUpdate: Bool
}

/// The body of `auth` and `gauth`. Both accept every kind of credential.
struct LiveCredential: Sendable {
    var token: [UInt8]
    /// Whether the rules apply as for a client that is not signed in.
    var isSignedOut: Bool
    /// The `auth` in whose name an administrator acts; nil for none.
    var override: JSONValue?
}

extension LiveAction {
    /// Parses the body of a request.
    init(_ name: String, body: Span<UInt8>, limits: DraftLimits) {
        do throws(LiveRefusal) {
            self = try Self.parse(name, body, limits)
        } catch {
            self = .refused(error)
        }
    }

    private static func parse(_ name: String, _ text: Span<UInt8>, _ limits: DraftLimits) throws(LiveRefusal) -> LiveAction {
        switch name {
        case "s": return .nothing
        // Web clients misspell it.
        case "unappcheck", "unappeck": return .endAppCheck
        case "unauth": return .unauthenticate
        case "q", "l", "n", "u", "g": return try read(name, try LiveBody(text))
        case "p": return try put(try LiveBody(text), limits)
        case "m": return try merge(try LiveBody(text), limits)
        case "o", "om", "oc": return try disconnect(name, try LiveBody(text))
        case "auth", "gauth": return try authenticate(try LiveBody(text))
        case "appcheck":
            guard let token = try LiveBody(text).string("token") else { throw .badRequest("\"token\" must be a string") }
            return .appCheck(token: Array(token.utf8))
        default: throw .badRequest("the action \"\(name.prefix(20))\" is unknown")
        }
    }

    private static func read(_ name: String, _ body: borrowing LiveBody) throws(LiveRefusal) -> LiveAction {
        var place = LivePlace(path: try body.path(), query: .whole)
        if let query = body.text("q"), !query.equals("null") { place.query = try LiveQuery(parsing: query) }
        switch name {
        case "g": return .get(place)
        case "n", "u": return .unlisten(place)
        default:
            var tag: Int?
            if let text = body.text("t"), !text.equals("null") {
                guard let number = Int(text.string()), number > 0, number <= Int32.max else {
                    throw .badRequest("the tag \"t\" of a listen must be a positive integer")
                }
                tag = number
            }
            guard tag != nil || place.query.query == nil else {
                throw .badRequest("a listen with a query must have a tag \"t\"")
            }
            if let text = body.text("ch"), !text.equals("null") { place.ranges = try RangeHashes.parse(text) }
            return .listen(place, hash: try body.optionalString("h") ?? "", tag: place.query.query == nil ? nil : tag)
        }
    }

    private static func put(_ body: borrowing LiveBody, _ limits: DraftLimits) throws(LiveRefusal) -> LiveAction {
        let location = try body.location()
        let data = try body.data()
        var limits = limits
        limits.depthAbove = location.path.count
        let draft: Draft
        do throws(NodeError) {
            draft = location.isPriority ? try Draft(parsingPriority: data, limits: limits) : try Draft(parsing: data, limits: limits)
        } catch {
            throw .badRequest(error.message)
        }
        let hash = try body.optionalString("h")
        guard hash == nil || !location.isPriority else { throw .badRequest("a priority cannot be written with a hash") }
        return .write(
            LiveWrite(
                operation: location.isPriority ? .setPriority(location.path, draft) : .set(location.path, draft), hash: hash,
                leaves: draft.leafCount, bytes: draft.leafBytes, isUpdate: false))
    }

    private static func merge(_ body: borrowing LiveBody, _ limits: DraftLimits) throws(LiveRefusal) -> LiveAction {
        guard let path = try body.path() else { throw .permissionDenied }
        let data = try body.data()
        let hash = try body.optionalString("h")
        var limits = limits
        limits.depthAbove = path.count
        do throws(NodeError) {
            let update = try UpdateDraft(parsing: data, limits: limits)
            let leaves = update.members.reduce(update.priorities.count) { $0 + $1.draft.leafCount }
            return .write(
                LiveWrite(
                    operation: .update(base: path, update), hash: hash, leaves: leaves, bytes: data.count, isUpdate: true))
        } catch {
            throw .badRequest(error.message)
        }
    }

    private static func disconnect(_ name: String, _ body: borrowing LiveBody) throws(LiveRefusal) -> LiveAction {
        guard let path = try body.path() else { throw .permissionDenied }
        guard name != "oc" else { return .disconnect(.cancel(path)) }
        let data = try body.data()
        guard data.count <= DisconnectOperation.bytesMax else { throw .badRequest(DisconnectOperation.limitMessage) }
        guard let value = try? JSONValue(parsing: data, limits: JSONLimits(depthMax: 2 * Path.depthMax)) else {
            throw .badRequest("the data \"d\" must be JSON")
        }
        if name == "om", value.object?.count ?? 0 > DisconnectOperation.placesMax { throw .badRequest(DisconnectOperation.limitMessage) }
        return .disconnect(name == "o" ? .set(path, value) : .update(path, value))
    }

    /// The most bytes of the `auth` in whose name an administrator acts.
    private static let authBytesMax = 64 * 1024

    private static func authenticate(_ body: borrowing LiveBody) throws(LiveRefusal) -> LiveAction {
        guard let token = body.string("cred") else { throw .invalidToken("\"cred\" must be a string") }
        var override: JSONValue?
        if let text = body.text("authvar"), !text.equals("null") {
            guard text.count <= authBytesMax, let value = try? JSONValue(parsing: text, limits: JSONLimits(depthMax: 32)), case .object = value else {
                throw .badRequest("\"authvar\" must be an object, at most 32 levels deep and of at most \(authBytesMax) bytes")
            }
            override = value
        }
        return .authenticate(
            LiveCredential(token: Array(token.utf8), isSignedOut: try body.flag("noauth"), override: override))
    }
}

/// The members of a request's body.
struct LiveBody: ~Escapable {
    private let all: Span<UInt8>
    /// The last member of each name that a request may have.
    private var members: [(name: String, value: Range<Int>)] = []

    private static let names: Set = ["p", "d", "h", "q", "t", "ch", "cred", "authvar", "noauth", "token"]

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) throws(LiveRefusal) {
        all = text
        var members: [(name: String, value: Range<Int>)] = []
        do throws(LiveMessage.Fault) {
            try JSONMembers.read(text, 0..<text.count) { name, value in
                guard name.count <= 7 else { return }
                let name = text.extracting(name).string()
                guard Self.names.contains(name) else { return }
                members.removeAll { $0.name == name }
                members.append((name, value))
            }
        } catch {
            throw .badRequest("the body \"b\" of a request must be an object")
        }
        self.members = members
    }

    /// The text of a member.
    @_lifetime(copy self)
    func text(_ name: String) -> Span<UInt8>? {
        guard let range = members.first(where: { $0.name == name })?.value else { return nil }
        return all.extracting(range)
    }

    /// A member that is a string.
    func string(_ name: String) -> String? {
        // Nothing else is parsed, which could take much memory.
        guard let text = text(name), !text.isEmpty, text[0] == UInt8(ascii: "\"") else { return nil }
        return (try? JSONValue(parsing: text))?.string
    }

    /// A string that may be absent or null.
    func optionalString(_ name: String) throws(LiveRefusal) -> String? {
        guard let text = text(name), !text.equals("null") else { return nil }
        guard let string = string(name) else { throw .badRequest("\"\(name)\" must be a string") }
        return string
    }

    /// A boolean that may be absent or null, which means false.
    func flag(_ name: String) throws(LiveRefusal) -> Bool {
        guard let text = text(name), !text.equals("null"), !text.equals("false") else { return false }
        guard text.equals("true") else { throw .badRequest("\"\(name)\" must be true or false") }
        return true
    }

    /// The data to write.
    @_lifetime(copy self)
    func data() throws(LiveRefusal) -> Span<UInt8> {
        guard let data = text("d") else { throw .badRequest("a write must have data \"d\"") }
        return data
    }

    /// The path; nil for `.info` and below. Paths are not percent-encoded, and may lack the first slash.
    func path() throws(LiveRefusal) -> Path? {
        let text = try pathText()
        if Self.isClientInfo(text) { return nil }
        do throws(PathError) { return try Path(parsing: text) } catch { throw .badRequest(error.message) }
    }

    /// The path of a put, which may end in `.priority`.
    func location() throws(LiveRefusal) -> Location {
        let text = try pathText()
        if Self.isClientInfo(text) { throw .permissionDenied }
        do throws(PathError) { return try Location(parsing: text.utf8.span) } catch { throw .badRequest(error.message) }
    }

    private func pathText() throws(LiveRefusal) -> String {
        guard let text = string("p") else { throw .badRequest("the path \"p\" must be a string") }
        return text
    }

    private static func isClientInfo(_ text: String) -> Bool {
        let path = text.hasPrefix("/") ? text.dropFirst() : text[...]
        return path == ".info" || path.hasPrefix(".info/")
    }
}
