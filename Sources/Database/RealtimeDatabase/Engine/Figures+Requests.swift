import Tree

extension WriterFigures {
    /// Counts a write of the current transaction, or one that changed nothing.
    mutating func add(_ operation: WriteRequest.Operation, _ outcome: WriteOutcome) {
        switch outcome {
        case .committed: add(Operation(operation), .committed)
        case .conflict: add(Operation(operation), .conflict)
        case .refused: add(Operation(operation), .refused)
        }
    }

    /// Counts a write that was not attempted.
    mutating func addFailed(_ operation: WriteRequest.Operation) { addFailed(Operation(operation)) }
}

extension WriterFigures.Operation {
    init(_ operation: WriteRequest.Operation) {
        self =
            switch operation {
            case .set: .set
            case .update: .update
            case .setPriority: .setPriority
            }
    }
}

extension ReaderFigures {
    /// Counts a read whose answer has begun.
    mutating func add(_ kind: ReadRequest.Kind, _ outcome: ReadOutcome) {
        switch outcome {
        case .value(let json, _, _): add(Kind(kind), .answered, bytes: json.count)
        case .stream(let stream): add(Kind(kind), .answered, bytes: stream.first.count)
        case .node(let node, _): add(Kind(kind), .answered, bytes: node.leafBytes)
        case .notModified: add(Kind(kind), .notModified, bytes: 0)
        case .refused: add(Kind(kind), .refused, bytes: 0)
        }
    }
}

extension ReaderFigures.Kind {
    init(_ kind: ReadRequest.Kind) {
        self =
            switch kind {
            case .value: .value
            case .query: .query
            case .shallow: .shallow
            case .priority: .priority
            }
    }
}
