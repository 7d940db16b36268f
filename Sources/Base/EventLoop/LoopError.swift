import CLibuv
import Glibc

/// What libuv answered when something failed: its number, its name for it and its text.
public struct LoopError: Error, Equatable, Sendable, CustomStringConvertible {
    /// libuv's number: a negated errno, or one of libuv's own below -3000.
    public let code: Int32
    /// What was tried: `bind`, `spawn`, `read`, ...
    public let operation: String
    /// What it was tried on: an address, a path; empty where there is nothing to name.
    public let subject: String

    /// What libuv's number `code` stands for, with what was tried and on what.
    public init(code: Int32, operation: String, subject: String = "") {
        self.code = code
        self.operation = operation
        self.subject = subject
    }

    /// libuv's name, for example `EADDRINUSE`; the number of an error that libuv does not know.
    public var name: String { isKnown ? String(cString: uv_err_name(code)) : "errno \(-code)" }

    /// libuv's text, for example `address already in use`, else the system's.
    public var message: String { isKnown ? String(cString: uv_strerror(code)) : String(cString: strerror(-code)) }

    private var isKnown: Bool {
        var text = [CChar](repeating: 0, count: 64)
        uv_err_name_r(code, &text, text.count)
        return strncmp(text, "Unknown", 7) != 0
    }

    public var description: String {
        subject.isEmpty ? "\(operation): \(message) (\(name))" : "\(operation) \(subject): \(message) (\(name))"
    }

    /// Whether an end of file was reached, which is how libuv reports a peer that has finished.
    public var isEndOfFile: Bool { code == UV_EOF.rawValue }
}

/// Throws what `code` stands for when it is negative, as every libuv function that can fail returns.
@inline(__always)
func check(_ code: Int32, _ operation: String, _ subject: @autoclosure () -> String = "") throws(LoopError) {
    if code < 0 { throw LoopError(code: code, operation: operation, subject: subject()) }
}
