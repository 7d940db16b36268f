import CSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A compiled SQL text. To use it, bind its parameters, step through its rows, and reset it.
///
/// Belongs to the thread of its connection. As in SQLite, parameters are counted from 1, and columns from 0.
public final class Statement {
    private let handle: OpaquePointer

    /// An address for empty blobs, because a blob without an address is NULL.
    private static let nothing: StaticString = ""

    init(_ connection: OpaquePointer, _ sql: String) throws(SQLiteError) {
        var handle: OpaquePointer?
        errno = 0
        let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, connection: connection, operation: sql) }
        guard let handle else { throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "no statement", operation: sql) }
        self.handle = handle
    }

    deinit { sqlite3_finalize(handle) }

    /// The compiled text.
    public var sql: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

    /// Whether a row was read and there may be more rows.
    public var isRunning: Bool { sqlite3_stmt_busy(handle) != 0 }

    // MARK: Parameters

    /// Binds bytes without copying them. The caller must keep them valid until `reset`.
    @inline(__always)
    public func bind(borrowing bytes: UnsafeRawBufferPointer, at index: Int32) {
        let address = bytes.baseAddress ?? UnsafeRawPointer(Statement.nothing.utf8Start)
        check(sqlite3_bind_blob64(handle, index, address, UInt64(bytes.count), nil))
    }

    /// Binds a copy of `value`.
    public func bind(_ value: Value, at index: Int32) {
        switch value {
        case .null: check(sqlite3_bind_null(handle, index))
        case .integer(let number): bind(number, at: index)
        case .real(let number): check(sqlite3_bind_double(handle, index, number))
        case .text(var text):
            let code = text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { csqlite_bind_text_copy(handle, index, $0.baseAddress, UInt64($0.count)) }
            }
            check(code)
        case .blob(let bytes): bind(bytes.span, at: index)
        }
    }

    /// Binds a copy of `bytes`.
    public func bind(_ bytes: Span<UInt8>, at index: Int32) {
        let code = bytes.withUnsafeBytes { bytes in
            let address = bytes.baseAddress ?? UnsafeRawPointer(Statement.nothing.utf8Start)
            return csqlite_bind_blob_copy(handle, index, address, UInt64(bytes.count))
        }
        check(code)
    }

    /// Binds a whole number. The first parameter has the number 1.
    @inline(__always)
    public func bind(_ number: Int64, at index: Int32) {
        check(sqlite3_bind_int64(handle, index, number))
    }

    /// Binds `values` to the parameters, beginning with the first one.
    public func bind(_ values: [Value]) {
        for (index, value) in values.enumerated() { bind(value, at: Int32(index + 1)) }
    }

    /// It is a mistake of the caller to bind a nonexistent parameter, or to bind while rows are read. Values that are too large make `step` fail;
    /// the parameter is then NULL.
    private func check(_ code: Int32) {
        assert(code == SQLITE_OK || code == SQLITE_TOOBIG || code == SQLITE_NOMEM, "bind: \(String(cString: sqlite3_errstr(code)))")
    }

    // MARK: Rows

    /// Reads the next row. Returns false if there is none. After an error, the statement is reset.
    @inline(__always)
    public func step() throws(SQLiteError) -> Bool {
        errno = 0
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure(code)
    }

    @inline(never)
    private func failure(_ code: Int32) -> SQLiteError {
        let error = SQLiteError(code, connection: sqlite3_db_handle(handle), operation: sql)
        sqlite3_reset(handle)
        return error
    }

    /// Runs a statement without reading its rows, and resets it.
    @inline(__always)
    public func run() throws(SQLiteError) {
        while try step() {}
        reset()
    }

    /// Resets the statement for its next use. Its parameters stay bound.
    @inline(__always)
    public func reset() { sqlite3_reset(handle) }

    /// Clears all parameters.
    public func clear() { sqlite3_clear_bindings(handle) }

    /// The bytes of a blob or text, valid until the next `step` or `reset`. Empty for NULL.
    @inline(__always)
    public func bytes(at column: Int32) -> UnsafeBufferPointer<UInt8> {
        let address = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        return UnsafeBufferPointer(start: address?.assumingMemoryBound(to: UInt8.self), count: address == nil ? 0 : count)
    }

    /// A whole number; 0 for NULL.
    @inline(__always)
    public func integer(at column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// A text; empty for NULL.
    public func text(at column: Int32) -> String { String(decoding: bytes(at: column), as: UTF8.self) }

    /// The number of columns of a row; 0 for a statement without rows.
    public var columnCount: Int32 { sqlite3_column_count(handle) }

    /// A copy of a column, with its stored type.
    public func value(at column: Int32) -> Value {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer(integer(at: column))
        case SQLITE_FLOAT: .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT: .text(text(at: column))
        case SQLITE_BLOB: .blob([UInt8](bytes(at: column)))
        default: .null
        }
    }
}
