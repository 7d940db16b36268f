import SQLite

extension StoreError {
    init(_ error: SQLiteError) {
        let kind: Kind =
            switch error.kind {
            case .full: .full
            case .readOnly: .readOnly
            case .corrupt: .corrupt
            case .busy: .busy
            case .io, .cannotOpen: .io
            case .memory, .noDescriptor: .exhausted
            case .constraint, .tooBig, .interrupted, .other: .other
            }
        self.init(kind, error.description)
    }

    /// Of an error that is one of this room's or one of the `SQLite` room's.
    init(either error: any Error) {
        if let error = error as? SQLiteError { self.init(error) } else { self = error as? StoreError ?? StoreError(.other, "\(error)") }
    }
}
