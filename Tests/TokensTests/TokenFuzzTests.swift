import Crypto
import CryptoExtras
import FuzzSupport
import HearthJSON
import Testing

@testable import Tokens

/// Tokens and documents of keys by chance: nothing is accepted that a configured key has not signed.
@Suite struct TokenFuzzTests {
    private static let words = [
        ".", "=", "-", "_", "e30", "eyJhbGciOiJub25lIn0", "\"alg\"", "\"none\"", "\"kid\"", "\"first\"", "\"second\"", "{", "}", ":", ",", "null",
    ]
    private static let documentWords = [
        "\"keys\":", "\"kty\":", "\"RSA\"", "\"EC\"", "\"kid\":", "\"n\":", "\"e\":", "\"AQAB\"", "\"x\":", "\"use\":", "\"sig\"", "-----BEGIN ",
        "CERTIFICATE-----", "PUBLIC KEY-----", "\\n", "MII", "[", "]", "{", "}", "null", "AAAA",
    ]

    private struct Part {
        var text: String
        var isRight: Bool
    }

    /// A token of these parts, signed by a key. Right parts that the first key has signed make a good token.
    private static func token(_ header: Part, _ claims: Part, _ signer: SigningKey?) throws -> (text: String, isGood: Bool) {
        let signed = "\(base64URL(Array(header.text.utf8))).\(base64URL(Array(claims.text.utf8)))"
        guard let signer else { return (signed + ".", false) }
        let signature = try signer.key.signature(for: SHA256.hash(data: Array(signed.utf8)), padding: .insecurePKCS1v1_5)
        let isGood = header.isRight && claims.isRight && signer.id == "first"
        return ("\(signed).\(base64URL(Array(signature.rawRepresentation)))", isGood)
    }

    private static func parts() throws -> (headers: [Part], claims: [Part]) {
        let headers = try FuzzCorpus.load("Tokens/corpus/headers").enumerated().map { index, text in
            Part(text: String(decoding: text, as: UTF8.self), isRight: index == 0 || index == 6)
        }
        let changes: [[String: JSONValue]] = [
            ["exp": JSONValue(noon)], ["aud": "another-project"], ["iss": "https://securetoken.google.com/another-project"], ["sub": ""],
            ["iat": JSONValue(noon + 10)], ["auth_time": JSONValue(noon + 10)], ["exp": .null], ["sub": 7], ["aud": [.string(project)]],
        ]
        let wrong = changes.map { Part(text: idClaims($0).description, isRight: false) }
        return (headers, [Part(text: idClaims().description, isRight: true)] + wrong)
    }

    @Test func onlyIssuedTokensAreAccepted() async throws {
        let (headers, claims) = try Self.parts()
        let signers: [SigningKey?] = [.first, .second, .second.renamed("first"), nil]
        var made: [(text: String, isGood: Bool)] = []
        for (index, header) in headers.enumerated() {
            for (number, claim) in claims.enumerated() where index == 0 || number == 0 {
                for (place, signer) in signers.enumerated() {
                    // The third key calls itself by the id of the first.
                    let token = try Self.token(header, claim, signer)
                    made.append((token.text, token.isGood && place == 0))
                }
            }
        }
        let good = Set(made.filter(\.isGood).map(\.text))
        #expect(good.count == 2)
        let verifier = try TokenVerifier.idTokens(.first)
        for token in made {
            let refusal = await verifier.refusal(token.text)
            #expect((refusal == nil) == token.isGood, "\(token.text)")
        }
        // Parts of different tokens together, and changes of each.
        let run = FuzzRun(made.map { Array($0.text.utf8) }, words: Self.words, rounds: 4000)
        var mutator = Mutator(seed: run.seed, corpus: run.corpus, words: Self.words)
        let pieces = made.map { $0.text.split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
        for round in 0..<run.rounds {
            var text = String(decoding: mutator.next(), as: UTF8.self)
            if round.isMultiple(of: 3) {
                let chosen = (0..<3).map { pieces[mutator.random.below(pieces.count)][$0] }
                text = chosen.joined(separator: ".")
            }
            guard await verifier.refusal(text) == nil else { continue }
            #expect(good.contains(text), "accepted in round \(round), HEARTH_FUZZ_SEED=\(run.seed): \(text)")
        }
    }

    @Test func documentsHaveKeysOfTheAskedAlgorithms() throws {
        let run = FuzzRun(try FuzzCorpus.load("Tokens/corpus/documents"), words: Self.documentWords, bytesMax: 8192, rounds: 3000)
        for algorithms in [["RS256"], ["ES256"], ["RS256", "ES256"]] as [Set<String>] {
            #expect(run.complaint { Self.complaint($0, algorithms) } == nil)
        }
    }

    private static func complaint(_ text: [UInt8], _ algorithms: Set<String>) -> String? {
        let document: KeyDocument
        do throws(KeyFetchError) { document = try KeyDocument(parsing: text, algorithms: algorithms) } catch { return nil }
        if document.keys.isEmpty { return "no error, and no key" }
        if document.keys.count > 256 { return "\(document.keys.count) keys" }
        for (id, key) in document.keys {
            if id.isEmpty { return "a key without an id" }
            if !algorithms.contains(key.algorithm) { return "a key for \(key.algorithm)" }
            if key.isSignature([UInt8](repeating: 1, count: 256), of: [1, 2, 3], algorithm: key.algorithm) { return "accepts a signature of nothing" }
        }
        return nil
    }
}
