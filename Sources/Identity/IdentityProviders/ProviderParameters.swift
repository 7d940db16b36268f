import HTTP

/// The parameters of a sign-in with a provider: `requestUri` and `postBody`, merged.
///
/// If a name occurs several times, the fragment of the address counts most, then the body, then the query of the address (spec auth 2.2).
public struct ProviderParameters: Sendable, Equatable {
    /// Longer texts are refused: tokens of providers have up to 16 KiB.
    public static let bytesMax = 64 * 1024

    private var form = FormText()

    /// Parameters that are parsed already.
    public init(_ values: [String: String] = [:]) {
        for (name, value) in values { form[name] = value }
    }

    /// Parses and merges the parameters of a request.
    ///
    /// - Throws: `INVALID_REQUEST_URI` if the address is not absolute; `INVALID_CREDENTIAL_OR_PROVIDER_ID` if a text is too long.
    public init(requestURI: String, postBody: String?) throws(AssertionError) {
        guard requestURI.utf8.count <= Self.bytesMax, (postBody ?? "").utf8.count <= Self.bytesMax else {
            throw AssertionError("INVALID_CREDENTIAL_OR_PROVIDER_ID", "Invalid IdP response/credential: too long")
        }
        guard let address = WebOrigin(of: requestURI) else { throw AssertionError("INVALID_REQUEST_URI") }
        form = FormText(address.query)
        form.merge(FormText(postBody ?? ""))
        form.merge(FormText(address.fragment))
    }

    /// The value of a parameter; nil if it is absent or empty.
    public subscript(name: String) -> String? { form[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The names that are present, also with empty values.
    public var names: Set<String> { Set(form.values.keys) }

    /// Replaces a parameter.
    public mutating func set(_ name: String, _ value: String?) { form[name] = value }
}
