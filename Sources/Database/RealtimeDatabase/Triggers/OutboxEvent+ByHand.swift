public import Tree

extension OutboxEvent {
    /// Creates an event that no write has raised and no outbox stores, for trying a function.
    ///
    /// - Parameters:
    ///   - payload: `{"before":...,"after":...}`.
    ///   - time: in milliseconds since 1970.
    public init(
        byHand id: String, namespace: String, function: String, kind: TriggerKind, path: Path, params: [EventParameter], payload: [UInt8],
        time: Int64, origin: EventOrigin
    ) {
        self.init(
            sequence: 0, id: id, namespace: namespace, function: function, kind: kind, path: path, params: params, payload: payload, time: time,
            origin: origin, chain: EventChain(), trace: nil, progress: DeliveryProgress(since: time))
    }
}
