public import HearthJSON

extension HostClient {
    /// Hands on every operation on a database, as the host tells it, until the host ends that.
    ///
    /// - Parameters:
    ///   - instance: the namespace; nil for the host's own.
    ///   - began: called once the host has begun to tell.
    public func profile(
        instance: String?, began: () -> Void, _ take: (JSONValue) throws(ClientFailure) -> Void
    ) throws(ClientFailure) {
        let target = DatabaseTarget(path: "/.settings/profile", instance: instance).target()
        var events = ServerSentEvents()
        var hasBegun = false
        try download(HostRequest("GET", target, headers: [("Accept", "text/event-stream")])) { (piece) throws(ClientFailure) in
            if !hasBegun { began() }
            hasBegun = true
            for data in events.events(in: piece) {
                guard let operation = try? JSONValue(parsing: data.span), operation.object != nil else { continue }
                try take(operation)
            }
        }
    }
}
