import HearthBytes

/// The secret of a developer's device, which an administrator has registered. Disabled in production unless the configuration enables it.
struct DebugProvider: AttestationProvider {
    /// The tokens of the configuration, hashed.
    let configured: [[UInt8]]
    let store: AppCheckStorage

    var methods: [ExchangeMethod] { [.debug] }

    func attest(_ request: AttestationRequest) async throws(AppCheckError) -> Attestation {
        let token = try request.body.required("debugToken")
        // Letters of a UUID in either case name the same device.
        let hash = AppCheckStore.hash(Array(token.lowercased().utf8))
        let app = request.app
        let registered = try await store.perform { store throws(AppCheckFailure) in try store.debugHashes(app: app) }
        var isKnown = false
        // All of them, so that the time tells nothing.
        for candidate in configured + registered where hash.span.equalsInConstantTime(candidate) { isKnown = true }
        guard isKnown else { throw .rejected }
        return Attestation()
    }
}
