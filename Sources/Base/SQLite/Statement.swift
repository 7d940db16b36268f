import CSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A compiled SQL text: bind its parameters, step through its rows, reset it for the next use.
///
/// Belongs to the thread of its connection. Parameters and columns are counted as in SQLite: parameters from 1, columns
/// from 0.
public final class Statement {
    private let handle: OpaquePointer

    /// Zero bytes need an address, too: a blob without one is NULL.
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

    /// The text that was compiled.
    public var sql: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

    /// Whether a row was read and there may be more.
    public var isRunning: Bool { sqlite3_stmt_busy(handle) != 0 }

    // MARK: Parameters

    /// Binds bytes that the caller keeps where they are until `reset`, without copying them.
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

    /// Binds a whole number; the first parameter is 1.
    @inline(__always)
    public func bind(_ number: Int64, at index: Int32) {
        check(sqlite3_bind_int64(handle, index, number))
    }

    /// Binds `values` to the parameters from the first on.
    public func bind(_ values: [Value]) {
        for (index, value) in values.enumerated() { bind(value, at: Int32(index + 1)) }
    }

    /// A parameter that the text does not have, or binding while rows are read, is a mistake of the caller. Values that are
    /// too long are refused by `step`: the parameter is NULL then.
    private func check(_ code: Int32) {
        assert(code == SQLITE_OK || code == SQLITE_TOOBIG || code == SQLITE_NOMEM, "bind: \(String(cString: sqlite3_errstr(code)))")
    }

    // MARK: Rows

    /// Goes to the next row; false when there is none. After an error the statement is reset.
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

    /// Steps to the end and resets: for a statement whose rows do not matter.
    @inline(__always)
    public func run() throws(SQLiteError) {
        while try step() {}
        reset()
    }

    /// Makes the statement ready for its next use; what was bound stays.
    @inline(__always)
    public func reset() { sqlite3_reset(handle) }

    /// Forgets what was bound.
    public func clear() { sqlite3_clear_bindings(handle) }

    /// The bytes of a blob or text, good until the next `step` or `reset`. Empty for NULL.
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

    /// Columns of a row; 0 for what answers with none.
    public var columnCount: Int32 { sqlite3_column_count(handle) }

    /// A copy of a column, typed as it is stored.
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
