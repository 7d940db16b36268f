import CLibuv
import Glibc

/// An error of libuv: its number, name and text.
public struct LoopError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The error number: a negated errno, or one of libuv's own below -3000.
    public let code: Int32
    /// The operation that failed: `bind`, `spawn`, `read`, ...
    public let operation: String
    /// The object of the operation: an address or a path; empty if there is none.
    public let subject: String

    /// An error with libuv's number `code`, the operation and its object.
    public init(code: Int32, operation: String, subject: String = "") {
        self.code = code
        self.operation = operation
        self.subject = subject
    }

    /// libuv's name, for example `EADDRINUSE`; the number for an error that libuv does not know.
    public var name: String { isKnown ? String(cString: uv_err_name(code)) : "errno \(-code)" }

    /// libuv's text, for example `address already in use`; otherwise the system's.
    public var message: String { isKnown ? String(cString: uv_strerror(code)) : String(cString: strerror(-code)) }

    private var isKnown: Bool {
        var text = [CChar](repeating: 0, count: 64)
        uv_err_name_r(code, &text, text.count)
        return strncmp(text, "Unknown", 7) != 0
    }

    public var description: String {
        subject.isEmpty ? "\(operation): \(message) (\(name))" : "\(operation) \(subject): \(message) (\(name))"
    }

    /// Whether the error is libuv's report that the peer has finished (end of file).
    public var isEndOfFile: Bool { code == UV_EOF.rawValue }
}

/// Throws if `code`, the result of a libuv function, is negative.
@inline(__always)
func check(_ code: Int32, _ operation: String, _ subject: @autoclosure () -> String = "") throws(LoopError) {
    if code < 0 { throw LoopError(code: code, operation: operation, subject: subject()) }
}
