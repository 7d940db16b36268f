/// The facts of a request that the links of mails need.
struct LinkSource: Sendable {
    /// The address of this host.
    var base: String
    /// The languages that the client prefers.
    var language: String?
    /// The API key of the client.
    var key: String?
}
