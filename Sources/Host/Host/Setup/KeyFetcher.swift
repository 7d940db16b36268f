import HTTP
import Tokens

/// Downloads key documents with the HTTP client.
struct KeyFetcher: KeyFetching {
    let client: HTTPClient

    func fetch(_ url: String) async throws(KeyFetchError) -> FetchedKeys {
        let response: ClientResponse
        do throws(ClientError) {
            response = try await client.send(ClientRequest(url: url, responseBytesMax: 1 << 20, redirectsMax: 3))
        } catch {
            throw KeyFetchError("\(error)")
        }
        guard response.status == 200 else { throw KeyFetchError("the answer has status \(response.status)") }
        return FetchedKeys(bytes: response.body, maxAgeSeconds: response.maxAgeSeconds)
    }
}
