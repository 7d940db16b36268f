import Tree

extension Operation {
    /// An attempted write; nil if the profiler does not report it.
    init?(_ request: WriteRequest, _ outcome: WriteOutcome, _ stopwatch: OperationTimer?) {
        guard let stopwatch, let name = request.profiledAs else { return nil }
        self.init(name, at: request.operation.path)
        bytes = request.bytes
        if case .set(_, let draft) = request.operation, draft.node.isEmpty { bytes = 0 }
        isAllowed = true
        if case .refused(let error) = outcome { isAllowed = error.kind != .permissionDenied }
        self.stopwatch = stopwatch
    }

    /// A read whose answer has begun.
    init(_ name: OperationName, _ request: ReadRequest, _ outcome: ReadOutcome, isUnindexed: Bool, _ stopwatch: OperationTimer) {
        self.init(name, at: request.path)
        isAllowed = true
        bytes = 0
        switch outcome {
        case .value(let json, _, _): bytes = json.count
        case .stream(let stream): bytes = stream.first.count
        case .notModified, .node: break
        case .refused(let error): isAllowed = error.kind != .permissionDenied
        }
        if name == .listenerBroadcast { listeners = 1 } else { query = QueryUse(query: request.query, isUnindexed: isUnindexed) }
        self.stopwatch = stopwatch
    }
}
