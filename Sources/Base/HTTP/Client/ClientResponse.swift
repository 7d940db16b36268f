/// What a server answered.
public struct ClientResponse: Sendable {
    /// The status code, for example 200.
    public let status: Int
    /// Names in lower case, in the order they came; of the last answer where redirects were followed.
    public let headers: [(name: String, value: String)]
    /// As it came, at most ``ClientRequest/responseBytesMax`` bytes.
    public let body: [UInt8]

    /// The value of the first header of this name, which is given in lower case.
    public func header(_ lowercaseName: String) -> String? {
        headers.first { $0.name == lowercaseName }?.value
    }

    /// For how many seconds from now the answer may be kept: `max-age` of `Cache-Control` less `Age` (RFC 9111 section 4.2).
    /// Nil where the answer does not say, and 0 for `no-store` and `no-cache`.
    public var maxAgeSeconds: Int? {
        var found: Int?
        for (name, value) in headers where name == "cache-control" {
            for directive in value.split(separator: ",") {
                let text = directive.lowercased().filter { $0 != " " && $0 != "\t" && $0 != "\"" }
                if text == "no-store" || text == "no-cache" { return 0 }
                if text.hasPrefix("max-age=") { found = Int(text.dropFirst("max-age=".count)).map { max(0, $0) } ?? found }
            }
        }
        let age = header("age").flatMap { Int($0) } ?? 0
        return found.map { max(0, $0 - max(0, age)) }
    }
}
