import HearthJSON

extension TokenVerifier {
    /// The longest text of a claim in a reason, in characters.
    private static let claimLengthMax = 80

    /// The reason for a refusal, for the host's log: the wrong claim and the expected value.
    ///
    /// Never sent to clients, which could learn from it. Claims are shortened and escaped; the token itself and its signature are left out.
    public func reason(for refusal: TokenRefusal, of token: [UInt8]) -> String {
        guard token.count <= Self.tokenBytesMax, let parts = try? CompactToken(token) else { return Self.sentence(refusal) }
        let claims = try? parts.claims()
        switch refusal {
        case .algorithm: return "the token is signed with \(parts.algorithm.map(Self.quoted) ?? "an unknown algorithm"); this host accepts \"RS256\""
        case .keyUnknown: return "no key has the id \(Self.quoted(parts.keyID ?? "")) that the token names; \(unknownKeyAdvice)"
        case .audience: return "the token's audience is \(Self.text(claims?["aud"])); \(expectedAudience)"
        case .issuer: return "the token's issuer is \(Self.text(claims?["iss"])); \(expectedIssuer)"
        case .subject where claims?["sub"] == nil: return "the token has no \"sub\""
        case .expired:
            guard let expires = Self.seconds(claims?["exp"]) else { break }
            return "the token expired \(clock.now() - expires) s ago"
        case .notYetValid:
            let times = ["iat", "nbf", "auth_time"].compactMap { name in Self.seconds(claims?[name]).map { (name, $0 - clock.now()) } }
            guard let latest = times.max(by: { $0.1 < $1.1 }) else { break }
            return "the token is not valid yet: its \"\(latest.0)\" is \(latest.1) s in the future"
        default: break
        }
        return Self.sentence(refusal)
    }

    private static func sentence(_ refusal: TokenRefusal) -> String {
        switch refusal {
        case .tooLong: "the token is longer than \(tokenBytesMax) bytes"
        case .malformed: "it is not a token: a JSON Web Token is three parts of base64url with dots between them"
        case .unsigned: "the token has no signature; only a host in development mode accepts such a token"
        case .algorithm: "the token is not signed with RS256"
        case .type: "the token's header must say \"typ\": \"JWT\", and must not contain \"crit\""
        case .keyIDMissing: "the token's header has no \"kid\", the id of its key"
        case .keyUnknown: "no key has the id that the token names"
        case .keysUnavailable: "this host has no keys to verify the token with; other lines of the log say why"
        case .signature: "the signature does not match"
        case .audience: "the token is for another project"
        case .issuer: "the token is from another issuer"
        case .subject: "the token's \"sub\" must be a text of 1 to 128 characters"
        case .expired: "the token has expired"
        case .notYetValid: "the token is not valid yet"
        case .time: "the token's \"iat\" or \"exp\" is missing, or a time of it is not a whole number of seconds"
        }
    }

    private var unknownKeyAdvice: String {
        keys == nil
            ? "this host accepts only its own tokens, because \"keys\" in its configuration names no others"
            : "the token is most likely old"
    }

    private var expectedAudience: String {
        switch rules.audience {
        case .text(let project): "this host's project is \"\(project)\""
        case .listHolding(let project): "this host accepts a list with \"\(project)\""
        }
    }

    private var expectedIssuer: String {
        let (other, own) = (Self.text(rules.issuer), self.own.map { Self.text($0.rules.issuer) })
        guard let own, own != other else { return "this host accepts \(other)" }
        return "this host accepts \(other), and \(own) for its own tokens"
    }

    private static func text(_ issuer: TokenRules.Issuer) -> String {
        switch issuer {
        case .exactly(let text): "\"\(text)\""
        case .below(let prefix): "\"\(prefix)\" with a project number behind it"
        }
    }

    private static func seconds(_ claim: JSONValue?) -> Int? {
        guard case .int(let seconds) = claim else { return nil }
        return Int(seconds)
    }

    /// A claim in the form for the log.
    private static func text(_ claim: JSONValue?) -> String {
        guard let claim else { return "missing" }
        if let text = claim.string { return quoted(text) }
        return shortened(String(decoding: claim.serialized(), as: UTF8.self))
    }

    private static func quoted(_ text: String) -> String { "\"\(shortened(text, escaping: ["\"", "\\"]))\"" }

    /// Shortens a text, and replaces characters that could end the quoted text or the line.
    private static func shortened(_ text: String, escaping special: [Unicode.Scalar] = []) -> String {
        var result = ""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            guard index < claimLengthMax else { return result + "..." }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default:
                if special.contains(scalar) { result += "\\" }
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
