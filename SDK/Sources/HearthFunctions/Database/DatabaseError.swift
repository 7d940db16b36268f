/// The reason why the database refused a call. Nothing has been written then.
public struct DatabaseError: Error, Sendable, CustomStringConvertible {
    /// The kind of refusal.
    public enum Code: String, Sendable, CaseIterable {
        /// The rules do not allow it; an administrator never sees this.
        case permissionDenied = "permission-denied"
        /// The path, the value or the query is invalid.
        case invalidArgument = "invalid-argument"
        /// The query needs an index: add `.indexOn` to the rules.
        case indexNotDefined = "index-not-defined"
        /// The value is larger than one call may read or write.
        case tooLarge = "too-large"
        /// The write would run more functions than one write may, or with larger events.
        case tooManyTriggers = "too-many-triggers"
        /// A typed read found no value.
        case notFound = "not-found"
        /// The value is not of the requested type.
        case typeMismatch = "type-mismatch"
        /// The name of the database is invalid, or the host has no such database.
        case unknownInstance = "unknown-instance"
        /// A transaction gave up, because other clients changed the value in each try.
        case contention
        /// The disk is full or read-only.
        case storageUnavailable = "storage-unavailable"
        /// The call took longer than the host allows.
        case deadlineExceeded = "deadline-exceeded"
        /// As many loops over `observe` as the host allows a plugin are waiting.
        case tooManyObservers = "too-many-observers"
        /// The host runs no database, or is stopping. Try again later.
        case unavailable
        /// An error of the service itself.
        case `internal`
    }

    /// The kind of refusal.
    public var code: Code
    /// A sentence for the log.
    public var message: String
    /// The path from the root: of the call, or of the invalid value below it.
    public var path: String

    /// An error as the database makes it, for tests of a plugin.
    public init(_ code: Code, _ message: String, path: String = "/") {
        self.code = code
        self.message = message
        self.path = path
    }

    /// "permission-denied at /secret: Permission denied"
    public var description: String { "\(code.rawValue) at \(path): \(message)" }
}

extension HttpsError {
    /// The error for a caller of the function, made from an error of the database: `permission-denied`, `invalid-argument`, `not-found`, ...
    ///
    ///     do {
    ///         try await mine.reference("profiles/\(uid)").setValue(profile)
    ///     } catch let error as DatabaseError { throw HttpsError(error) }
    ///
    /// A `DatabaseError` that a function throws as it is reaches its caller as `INTERNAL`, as any other error does.
    public init(_ error: DatabaseError) {
        let code: Code =
            switch error.code {
            case .permissionDenied: .permissionDenied
            case .invalidArgument: .invalidArgument
            case .indexNotDefined, .typeMismatch, .tooManyTriggers: .failedPrecondition
            case .tooLarge, .storageUnavailable, .tooManyObservers: .resourceExhausted
            case .notFound, .unknownInstance: .notFound
            case .contention: .aborted
            case .deadlineExceeded: .deadlineExceeded
            case .unavailable: .unavailable
            case .internal: .internal
            }
        self.init(code, error.message)
    }
}

extension DatabaseError {
    /// The service's failure: `{"code", "message", "details": {"reason", "path"}}`.
    init(failure: JSONValue, path: String) {
        let details = failure["details"]
        let code =
            details?["reason"]?.string.flatMap(Code.init(rawValue:)) ?? failure["code"]?.string.flatMap(Code.init(rawValue:))
        self.init(
            code ?? .internal, failure["message"]?.string ?? "The database failed without saying why.",
            path: details?["path"]?.string ?? path)
    }

    /// A value that cannot be written as JSON, such as a number that is not finite.
    init(encoding error: any Error, path: String) {
        guard case .invalidValue(_, let context)? = error as? EncodingError else {
            self.init(.invalidArgument, "The value cannot be written: \(error)", path: path)
            return
        }
        let place = DatabaseReference(Database(), path + "/" + context.codingPath.map(\.stringValue).joined(separator: "/"))
        self.init(.invalidArgument, context.debugDescription, path: place.path)
    }

    /// A value that cannot be read as the requested type.
    init(decoding error: any Error, path: String) {
        if case .valueNotFound(_, let context)? = error as? DecodingError, context.codingPath.isEmpty {
            self.init(.notFound, "There is no value.", path: path)
        } else {
            self.init(.typeMismatch, shapeProblem(error, root: "The value"), path: path)
        }
    }
}
