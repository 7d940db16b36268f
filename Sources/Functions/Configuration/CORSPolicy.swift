/// The web origins that may read a function's answers (spec functions 5.1).
public enum CORSPolicy: Sendable, Equatable {
    /// No CORS headers; a preflight reaches the function.
    case off
    /// The caller's origin is echoed.
    case reflect
    /// `*` for every caller.
    case any
    /// This origin for every caller.
    case fixed(String)
    /// The caller's origin is echoed when one of these matches it.
    case list([OriginMatcher])

    /// `true` in the file echoes every origin; `false` sends no CORS headers.
    public init(isOn: Bool) {
        self = isOn ? .reflect : .off
    }

    /// One origin, or a parameter's value: an empty one is off, `*` is any.
    public init(origin: String) {
        switch origin {
        case "": self = .off
        case "*": self = .any
        default: self = .fixed(origin)
        }
    }

    /// A list of the file: an empty list is off; a list of one name equals that name alone.
    public init(origins: [OriginMatcher]) {
        if origins.isEmpty {
            self = .off
        } else if origins.count == 1, case .exact(let origin) = origins[0] {
            self.init(origin: origin)
        } else {
            self = .list(origins)
        }
    }
}

/// One element of a list of origins.
public enum OriginMatcher: Sendable, Equatable {
    /// Scheme, host and port as the browser writes them.
    case exact(String)
    /// A pattern that matches anywhere in the header, unless anchored with `^` and `$`.
    case pattern(Pattern)

    /// Whether the `Origin` header matches; case-sensitive, except for a pattern that ignores case.
    public func matches(_ origin: String) -> Bool {
        switch self {
        case .exact(let expected): origin == expected
        case .pattern(let pattern): pattern.matches(origin)
        }
    }
}

extension CORSPolicy {
    /// Converts a value that the schema has accepted; nil for others.
    init?(_ value: LocatedValue) throws(PatternError) {
        switch value.content {
        case .bool(let isOn): self.init(isOn: isOn)
        case .string(let origin): self.init(origin: origin)
        case .object:
            guard let matcher = try OriginMatcher(value) else { return nil }
            self = .list([matcher])
        case .array(let elements):
            var matchers: [OriginMatcher] = []
            for element in elements {
                guard let matcher = try OriginMatcher(element) else { return nil }
                matchers.append(matcher)
            }
            self.init(origins: matchers)
        default: return nil
        }
    }
}

extension OriginMatcher {
    init?(_ value: LocatedValue) throws(PatternError) {
        if let origin = value.string {
            self = .exact(origin)
        } else if let source = value["regex"]?.string {
            self = .pattern(try Pattern(source, ignoringCase: value["flags"]?.string == "i"))
        } else {
            return nil
        }
    }
}

extension CORSPolicy {
    /// The size of the policy's regular expressions, in instructions.
    var size: Int {
        guard case .list(let matchers) = self else { return 0 }
        return matchers.reduce(0) { sum, matcher in
            if case .pattern(let pattern) = matcher { sum + pattern.size } else { sum }
        }
    }

    /// Origins of the policy that no browser ever sends, because they lack a scheme.
    var neverMatchingOrigins: [String] {
        let origins: [String]
        switch self {
        case .fixed(let origin): origins = [origin]
        case .list(let matchers): origins = matchers.compactMap { if case .exact(let origin) = $0 { origin } else { nil } }
        default: origins = []
        }
        return origins.filter { origin in
            let afterScheme = origin.utf8.drop { $0 != UInt8(ascii: ":") }
            return origin != "*" && !origin.isEmpty && !afterScheme.starts(with: "://".utf8)
        }
    }

    static func warning(_ origin: String) -> String {
        "\(origin.quoted) has no scheme, so that no browser's origin equals it; write \("https://\(origin)".quoted)"
    }
}
